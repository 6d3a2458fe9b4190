/**
 * The recorder's own tracks: the times with lost records, as slices per ring, and the last sign. The last sign makes work that hung for
 * half an hour half an hour long.
 */

import { ticks, type Ticks, type TraceNs } from '../../base/time.js';
import { controlChanges } from '../../model/control.js';
import { lostGaps, type LostGap } from '../../model/lost_ends.js';
import { eventTypeNames, type Gap, type Recording, type Ring } from '../../model/recording.js';
import { RANK_ORDER } from './comm_groups.js';
import { titleOf, type RankNames } from './rank_names.js';
import type { TrackRef, TrackSink } from './sink.js';

export interface RecorderContext {
  readonly sink: TrackSink;
  readonly file: Recording;
  readonly names: RankNames;
  readonly time: (at: Ticks) => TraceNs;
  /** The newest heartbeat, record or poll of the file; null: none. */
  readonly lastSign: Ticks | null;
  /** What is known of the time after `lastSign`, in which the run went on; null: nothing needs to be said. */
  readonly silence: Silence | null;
}

/** From the last sign of life to the end of the run. What is open on the rank was open then. */
const SILENCES = {
  'no sign of life':
    'From the last sign of life to the end of the run. What is open on this rank was open at the last ' +
    'sign, and nothing later is known. The process was killed or stuck, or its file was copied earlier ' +
    'than others.',
  'no records':
    'The records end here, but other ranks finished collectives with this one later: the file is an older copy, or ' +
    'its newest records were lost with the node. What it did since is not known.',
} as const;

export type Silence = keyof typeof SILENCES;

/** The group for lost and odd records. */
export function describeRecorder(sink: TrackSink): TrackRef {
  return sink.describe({
    kind: 'group',
    name: 'recorder',
    rank: RANK_ORDER.recorder,
    description: 'The recorder itself: what it lost and when it was last alive.',
  });
}

/** After the last record, when all gaps are known. */
export function drawRecorder(context: RecorderContext, group: TrackRef): void {
  for (const ring of context.file.rings) {
    const gaps = lostGaps(ring.gaps);
    if (gaps.length > 0) drawGaps(context, group, ring, gaps);
  }
  drawControl(context, group);
  drawLife(context, group);
}

const GAP_NAME: Readonly<Record<LostGap['cause'], string>> = {
  overwritten: 'overwritten',
  dropped: 'dropped (disk limit)',
  torn: 'torn',
  copy: 'not in this copy',
};

function drawGaps(context: RecorderContext, parent: TrackRef, ring: Ring, gaps: readonly LostGap[]): void {
  const { sink, time } = context;
  const track = sink.describe({
    kind: 'slices',
    name: `lost records, ${ring.class} ring ${ring.ring}`,
    parent,
    rank: 1 + ring.ring,
    description:
      'Times whose records are not in the file: they were overwritten in the ring, dropped to stay within ' +
      'the disk limit, torn, or written while the file was being copied.',
  });
  // Ticks of a shared ring step back a little: as in the merged order, nothing is earlier than its predecessor.
  let reached = ticks(-Infinity);
  for (const gap of gaps) {
    const [begins, ends] = stretch(context, ring, gap);
    const from = later(begins, reached);
    reached = later(ends, from);
    const slice = sink.begin(track, time(from), GAP_NAME[gap.cause], {
      args: [['slots', gap.end - gap.from]],
    });
    sink.end(track, time(reached), slice);
  }
}

/** A gap at the begin of the ring reaches from the ring's first use. A gap at its end reaches to the last sign. */
function stretch({ file }: RecorderContext, ring: Ring, gap: Gap): [Ticks, Ticks] {
  const firstUse = file.leases.find((lease) => lease.ring === ring.ring)?.fromTick ?? ticks(0);
  const before = gap.beforeTick ?? gap.afterTick ?? ticks(0);
  const from = gap.afterTick ?? (firstUse < before ? firstUse : ticks(0));
  return [from, later(before, from)];
}

const later = (a: Ticks, b: Ticks): Ticks => (a > b ? a : b);

function drawLife(context: RecorderContext, parent: TrackRef): void {
  const { sink, file, time, lastSign, silence } = context;
  const { heartbeat, header } = file;
  const isClosed = header.life === 'closed';
  // Records that an exiting process wrote after its closing do not move this.
  const at = isClosed && heartbeat ? heartbeat.tick : lastSign;
  if (at === null) return;
  const track = sink.describe({
    kind: 'slices',
    name: 'heartbeat',
    parent,
    rank: 0,
    description:
      'The last sign of life. What is open here was still open at this time. "last record": a record or a ' +
      'poll is newer than the last heartbeat. "closed": the process ended in order.',
  });
  const before = heartbeat && heartbeat.tick < at ? time(at) - time(heartbeat.tick) : 0;
  const isBeat = heartbeat !== null && before === 0;
  sink.instant(track, time(at), isClosed ? 'closed' : isBeat ? 'last heartbeat' : 'last record', {
    args: [['life', header.life], ...(before > 0 ? [['heartbeatNsBefore', before] as const] : [])],
  });
  if (silence) drawSilence(context, silence, parent, time(at));
}

/** Name of the track, for the first screen. */
export const pinnedSilence = (owner: string, silence: Silence): string => titleOf(owner, silence);

function drawSilence(
  { sink, names }: RecorderContext,
  silence: Silence,
  parent: TrackRef,
  from: TraceNs,
): void {
  const name = pinnedSilence(names.own, silence);
  const track = sink.describe({ kind: 'slices', name, parent, rank: 0, description: SILENCES[silence] });
  sink.begin(track, from, silence);
}

/** A running job changed its recording, so records that are missing afterwards may not have been requested. */
function drawControl({ sink, file, time }: RecorderContext, parent: TrackRef): void {
  const changes = controlChanges(file);
  if (changes.length === 0) return;
  const track = sink.describe({
    kind: 'slices',
    name: 'control',
    parent,
    rank: 0,
    description:
      'Changes of the recording (nccl-trace control, or NCCL itself). Records that are missing after a change may not have ' +
      'been asked for.',
  });
  const { eventMask, sampleEvery } = file.header;
  const names = (mask: number): string => eventTypeNames(mask).join(',') || 'nothing';
  for (const change of changes) {
    sink.instant(track, time(change.tick), 'recording changed', {
      args: [
        ['events', names(change.events)],
        ['eventsAtStart', names(eventMask)],
        ['sampleEvery', change.sampleEvery],
        ['sampleEveryAtStart', sampleEvery],
        ...(change.lostBefore === 0 ? [] : [['changesLostBefore', change.lostBefore ?? 'unknown'] as const]),
      ],
    });
  }
}
