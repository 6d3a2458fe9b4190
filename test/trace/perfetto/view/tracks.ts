/** Makes a tree of tracks from descriptors. Reports what the importer would report, and what it would misread without a word. */

import { CounterDescriptor, TrackDescriptor, given, unsigned, type Descriptor } from './messages.js';
import type { Problems, ViewProcess, ViewTrack, ViewTrackKind } from './types.js';

const { ChildTracksOrdering, SiblingMergeBehavior, ProcessOrdering } = TrackDescriptor;
const MAX_ANCESTORS = 100;

export interface Described {
  readonly message: Descriptor;
  readonly packet: number;
  readonly ts: bigint | undefined;
}

export class Tracks {
  readonly processes: ViewProcess[] = [];
  private readonly described = new Map<bigint, Described>();
  private readonly built = new Map<bigint, ViewTrack>();
  private readonly used = new Set<bigint>();

  constructor(private readonly problems: Problems) {}

  /** In file order. */
  describe(message: Descriptor, packet: number, ts: bigint | undefined): void {
    const id = given(message, 'uuid');
    if (id === undefined) {
      this.problems.add('track_descriptor_missing_uuid', packet);
      return;
    }
    const uuid = unsigned(id);
    if (uuid === 0n && given(message, 'parentUuid')) {
      this.problems.add('track_descriptor_default_track_with_parent', packet);
    }
    if (message.process && given(message.process, 'pid') === undefined) {
      this.problems.add('track_descriptor_process_missing_pid', packet);
    }
    const known = this.described.get(uuid);
    if (known && shapeOf(known.message) !== shapeOf(message)) {
      this.problems.add('track_descriptor_conflicting_reservation', packet, `uuid ${uuid}`);
    } else if (!known) this.described.set(uuid, { message, packet, ts });
  }

  /** Up to this point of the file. */
  isCounter = (uuid: bigint): boolean =>
    this.described.get(uuid)?.message.counter instanceof CounterDescriptor;

  isIncremental = (uuid: bigint): boolean =>
    this.described.get(uuid)?.message.counter?.isIncremental === true;

  /** The track of an event; undefined if nothing ever described it. */
  ofEvent(uuid: bigint, packet: number, kinds: readonly ViewTrackKind[]): ViewTrack | undefined {
    const track = this.built.get(uuid);
    if (track === undefined) this.problems.add('track_hierarchy_missing_uuid', packet, `uuid ${uuid}`);
    else if (!kinds.includes(track.kind)) {
      this.problems.add(
        'event on a track of another kind',
        packet,
        `${track.path.join(' > ')} is ${track.kind}`,
      );
    }
    return track;
  }

  /** When all descriptors are known. `withSlices`: the tracks on which something happens. */
  build(withSlices: ReadonlySet<bigint>): ViewTrack[] {
    for (const uuid of withSlices) this.used.add(uuid);
    for (const [uuid, { message, packet, ts }] of this.described) {
      if (message.process) this.addProcess(uuid, message, packet, ts);
    }
    for (const uuid of this.described.keys()) if (uuid !== 0n) this.track(uuid, []);
    const tracks = [...this.built.values()];
    this.checkSiblings(tracks);
    return tracks;
  }

  private addProcess(uuid: bigint, message: Descriptor, packet: number, ts: bigint | undefined): void {
    const pid = message.process?.pid ?? 0;
    if (pid === 0) this.problems.add('pid 0', packet);
    if (this.processes.some((other) => other.pid === pid))
      this.problems.add('pid used twice', packet, `${pid}`);
    const root = this.described.get(0n)?.message;
    if (root?.processOrdering !== ProcessOrdering.PROCESS_ORDERING_EXPLICIT) {
      this.problems.add('processes are not ordered', packet);
    }
    this.processes.push({
      uuid,
      pid,
      name: message.process?.processName ?? '',
      rank: message.siblingOrderRank ?? 0,
      description: message.description ?? '',
      labels: message.process?.processLabels ?? [],
      ts,
    });
  }

  private track(uuid: bigint, below: readonly bigint[]): ViewTrack | undefined {
    const known = this.built.get(uuid);
    if (known) return known;
    const described = this.described.get(uuid);
    if (described === undefined) {
      this.problems.add('track_hierarchy_missing_uuid', -1, `parent ${uuid}`);
      return undefined;
    }
    const { message, packet } = described;
    const parentId = given(message, 'parentUuid');
    const parentUuid = parentId && unsigned(parentId) !== 0n ? unsigned(parentId) : undefined;
    let parent: ViewTrack | undefined;
    if (below.includes(uuid)) this.problems.add('track_event_track_hierarchy_loop', packet, `uuid ${uuid}`);
    else if (below.length > MAX_ANCESTORS) this.problems.add('track_event_track_hierarchy_too_deep', packet);
    else if (parentUuid !== undefined) parent = this.track(parentUuid, [...below, uuid]);
    const process = this.processes.find((candidate) => candidate.uuid === uuid) ?? parent?.process;
    const name =
      message.name ?? message.staticName ?? message.process?.processName ?? message.thread?.threadName ?? '';
    const track: ViewTrack = {
      uuid,
      parent: parentUuid,
      name,
      path: [...(parent?.path ?? []), name],
      kind: kindOf(message, this.used.has(uuid)),
      process,
      rank: message.siblingOrderRank ?? 0,
      description: message.description ?? '',
      unit: unitOf(message),
      mergesWithSiblings:
        (message.siblingMergeBehavior ?? 0) !== SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE &&
        !message.process &&
        !message.thread,
      ordersChildren: message.childOrdering === ChildTracksOrdering.EXPLICIT,
    };
    this.built.set(uuid, track);
    return track;
  }

  /** By default the importer merges and sorts siblings by name. No trace of ours wants that. */
  private checkSiblings(tracks: readonly ViewTrack[]): void {
    const names = new Map<string, ViewTrack>();
    for (const track of tracks) {
      const key = JSON.stringify([String(track.parent), track.name]);
      const twin = names.get(key);
      const merges = track.kind !== 'counter' && track.kind !== 'state' && track.mergesWithSiblings;
      if (twin && merges) this.problems.add('siblings merge', -1, track.path.join(' > '));
      names.set(key, track);
      const parent = track.parent === undefined ? undefined : this.built.get(track.parent);
      if (parent && parent.kind !== 'process' && !parent.ordersChildren) {
        this.problems.add('children are not ordered', -1, parent.path.join(' > '));
      }
    }
  }
}

/** What may not change when a track is described again. */
const shapeOf = ({ parentUuid, process, thread, counter, state, siblingMergeBehavior }: Descriptor): string =>
  JSON.stringify([parentUuid, process?.pid, thread?.tid, !!counter, !!state, siblingMergeBehavior ?? 0]);

function kindOf(message: Descriptor, hasEvents: boolean): ViewTrackKind {
  if (message.process) return 'process';
  if (message.thread) return 'thread';
  if (message.counter) return 'counter';
  if (message.state) return 'state';
  return hasEvents ? 'slices' : 'group';
}

function unitOf({ counter }: Descriptor): string {
  switch (counter?.unit ?? undefined) {
    case CounterDescriptor.Unit.UNIT_SIZE_BYTES:
      return 'bytes';
    case CounterDescriptor.Unit.UNIT_COUNT:
      return 'count';
    case CounterDescriptor.Unit.UNIT_TIME_NS:
      return 'ns';
    default:
      return counter?.unitName ?? '';
  }
}
