/**
 * What a person sees first: pinned rows, expanded ranks, the selected slice and the time shown. It is decided after everything except the
 * cluster's block is drawn, because lanes are only known then.
 */

import type { ClusterComm } from '../cluster/collective_view.js';
import { pinnedSilence, type Silence } from './tracks/recorder_tracks.js';
import type { WantedCall } from './tracks/cluster_operation.js';
import type { Found } from './tracks/watched_tracks.js';
import type { Verdict } from '../verdict/types.js';
import { missingPath } from './missing_ranks.js';
import { processTitle } from '../runs/process_title.js';
import { shortTitle } from './labels.js';
import { viewAround, type Bounds, type Moments } from './moments.js';

import type { Run } from '../runs/run.js';
import { MOST_PINS, type FirstScreen, type TrackPath } from './startup.js';
import { latenessOf, stallOf, suspectComm, suspectsOf } from '../verdict/facts/suspects.js';
import { KIND } from './titles.js';
import type { FileWatch } from './watched_rows.js';

/** A screen has room for this many ranks. */
const MOST_EXPANDED = 4;

export interface Drawn {
  /** Title of the cluster group, and the lanes of the verdict's communicator, that of its call first. */
  readonly clusterTitle: string;
  readonly lanes: readonly string[];
  readonly watches: readonly FileWatch[];
  /** By watch. */
  readonly found: readonly Found[];
  /** By file: what is drawn after its last sign of life. */
  readonly silences: readonly (Silence | null)[];
  /** By file. */
  readonly isDrawn: readonly boolean[];
  /** Ranks without a file that the verdict names, by process. */
  readonly missing: readonly (readonly number[])[];
}

export function firstScreen(
  verdict: Verdict,
  {
    run,
    comms,
    traceStart,
    bounds,
  }: { run: Run; comms: readonly ClusterComm[]; traceStart: bigint; bounds: Bounds },
  moments: Moments,
  drawn: Drawn,
): FirstScreen {
  const accused = suspectsOf(verdict).filter(({ file }) => drawn.isDrawn[file]);
  const titleIn = (file: number): string => processTitle(run.members[file]!);
  const rows = drawn.watches.map(({ process, group }, i): TrackPath | null => {
    const found = drawn.found[i];
    return found ? [process, group, found.name] : null;
  });
  const silence = accused
    .flatMap(({ file }): TrackPath[] => {
      const name = drawn.silences[file];
      return name ? [[titleIn(file), 'recorder', pinnedSilence(shortTitle(run.members[file]!), name)]] : [];
    })
    .slice(0, 1);
  const laneOf = (lane: string): TrackPath => [drawn.clusterTitle, lane];
  const pins: TrackPath[] = [
    [drawn.clusterTitle, 'verdict'],
    ...drawn.lanes.slice(0, 1).map(laneOf),
    ...drawn.missing.slice(0, 1).map(missingPath),
    ...silence,
    ...rows.filter((row) => row !== null),
    // Where collectives overlap, half of them lie on the second lane.
    ...drawn.lanes.slice(1, 2).map(laneOf),
  ];
  const { main } = moments;
  const commId = suspectComm(verdict)?.commId ?? null;
  const id = commId === null ? null : BigInt(commId);
  const view = viewAround(verdict, main, { comms, commId: id, bounds });
  return {
    pins: pins.slice(0, MOST_PINS),
    expand: accused.slice(0, MOST_EXPANDED).map(({ file }) => titleIn(file)),
    view: view && [traceStart + BigInt(view[0]), traceStart + BigInt(view[1])],
    note: view && noteAt(verdict, traceStart + BigInt(main.from)),
  };
}

/** By file. What is not known is not drawn as a death: records end, although the rank worked on. */
export const silencesOf = ({ states }: Verdict): (Silence | null)[] =>
  states.map((state) => (state === 'silent' ? 'no sign of life' : state === 'copy' ? 'no records' : null));

/** The axis counts from 0. The report gives times of day (UTC), and so does the flag. The UI shows its first 16 characters. */
function noteAt(verdict: Verdict, ts: bigint): FirstScreen['note'] {
  const time = new Date(Number(ts / 1_000_000n)).toISOString().slice(11, 23);
  return { ts, text: `${time} ${KIND[verdict.kind]}` };
}

/** The collective that the verdict names; null: none, or sends and receives. */
export function namedCall(verdict: Verdict, args: WantedCall['args'] = []): WantedCall | null {
  const call =
    stallOf(verdict) ??
    latenessOf(verdict)?.longest[0] ??
    (verdict.kind === 'slow'
      ? verdict.slow.worst
      : verdict.kind === 'mismatch'
        ? verdict.mismatch.ways[0]
        : null);
  const commId = suspectComm(verdict)?.commId;
  if (!call || typeof commId !== 'string') return null;
  return { commId: BigInt(commId), func: call.func, seq: call.seq ?? -1, ordinal: call.replay, args };
}
