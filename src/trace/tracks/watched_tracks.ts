/**
 * Watches a few tracks for the first screen, which pins and selects them: on which lane a slice is open, and since when. If an arrow points
 * to an open slice, the arrow ends at an instant `look here`. The open slice began before the arrow's source, and the importer only draws
 * arrows forward. Only what is really drawn counts.
 */

import type { TraceNs } from '../../base/time.js';
import type { FlowId, SliceExtra, TrackRef, TrackSpec } from './sink.js';

/** A track with its lanes: "rank 6 · ch00 recv from 7", "… ·2". */
export interface Watch {
  /** Name of its group. */
  readonly group: string;
  readonly title: string;
  /** The arrow's end: at this time, on the step with this number, else on the oldest open one; null: none. */
  readonly arrow: { readonly flow: FlowId; readonly at: TraceNs; readonly step: number | null } | null;
}

/** null: it is not drawn. */
export type Found = FoundTrack | null;

export interface FoundTrack {
  /** The lane with the wanted step or call, else with an open slice, else the first one drawn. */
  readonly name: string;
  /** Begin of the open slice: the requested step, or the innermost known one; null: none. */
  readonly openSince: TraceNs | null;
  readonly hasArrow: boolean;
}

/** What the writer knows of a watched track at the end. */
export interface WatchedBlock {
  stateOf(track: TrackRef): {
    readonly open: readonly { readonly at: TraceNs; readonly step: number | null }[];
    readonly lastAt: TraceNs;
    /** A slice of the call that the verdict names began on it. */
    readonly hasNamed: boolean;
  };
  instantAnywhere(track: TrackRef, at: TraceNs, name: string, extra: SliceExtra): void;
}

interface Watched {
  readonly watch: number;
  readonly track: TrackRef;
  readonly name: string;
  /** null: it is a lane itself; else its lane. */
  readonly lane: Watched | null;
}

export class WatchedTracks {
  private readonly names = new Map<TrackRef, string>();
  private readonly watched = new Map<TrackRef, Watched>();

  constructor(private readonly watches: readonly Watch[]) {}

  /** A track that is drawn. Returns whether it is watched. */
  add(track: TrackRef, { name }: TrackSpec, parent: TrackRef | undefined): boolean {
    if (this.watches.length === 0) return false;
    this.names.set(track, name);
    const above = parent === undefined ? undefined : this.watched.get(parent);
    const watch = above?.watch ?? this.watchOf(name, parent);
    if (watch < 0) return false;
    this.watched.set(track, { watch, track, name, lane: above ? (above.lane ?? above) : null });
    return true;
  }

  /** After the last event. By watch. */
  finish(block: WatchedBlock): Found[] {
    return this.watches.map((watch, i) => this.found(watch, i, block));
  }

  private found({ arrow }: Watch, index: number, block: WatchedBlock): Found {
    const all = [...this.watched.values()].filter(({ watch }) => watch === index);
    const lanes = all.filter(({ lane }) => lane === null);
    if (lanes.length === 0) return null;
    const open = all.flatMap((one) => block.stateOf(one.track).open.map((slice) => ({ one, ...slice })));
    const steps = open.filter(({ step }) => step !== null).sort((a, b) => a.at - b.at);
    const wanted =
      steps.find(({ step }) => step === arrow?.step) ?? steps[0] ?? open.sort((a, b) => b.at - a.at)[0];
    const named = all.find(({ track }) => block.stateOf(track).hasNamed);
    const shown = (steps.length === 0 ? named : undefined) ?? wanted?.one ?? lanes[0]!;
    const lane = shown.lane ?? shown;
    if (wanted && arrow) {
      const { lastAt } = block.stateOf(wanted.one.track);
      const at = arrow.at > lastAt ? arrow.at : lastAt;
      block.instantAnywhere(wanted.one.track, at, 'look here', { flow: arrow.flow });
    }
    return {
      name: lane.name,
      openSince: wanted?.at ?? null,
      hasArrow: wanted !== undefined && arrow !== null,
    };
  }

  private watchOf(name: string, parent: TrackRef | undefined): number {
    const group = parent === undefined ? undefined : this.names.get(parent);
    return this.watches.findIndex(
      (watch) => watch.group === group && (name === watch.title || name.startsWith(`${watch.title} ·`)),
    );
  }
}
