/** The evidence of all scanned files, on the trace's axis, laid before the judge. */

import type { TraceNs } from '../base/time.js';
import { toTrace } from '../clocks/clock_map.js';
import { toLocal, type ClockSolution } from '../clocks/domains.js';
import type { ClusterComm } from '../cluster/types.js';
import { keyPosition, keyRing } from '../model/record_fields.js';
import type { StandingOp } from '../model/standstill.js';
import type { WorkEnd } from '../model/work_end.js';
import { PHASE_NAME } from '../tracks/op_tracks.js';
import { judge } from '../verdict/judge.js';
import type { RankWitness, Verdict, WitnessedOp } from '../verdict/types.js';
import { onOneAxis } from './cluster.js';
import type { Run } from './run.js';
import type { RankScan } from './scan.js';

/** `ends`: by file, with what other processes executed. */
export function runVerdict(
  run: Run,
  clocks: ClockSolution,
  ends: readonly (readonly WorkEnd[])[],
  comms: readonly ClusterComm[],
): Verdict {
  const ranks = run.members.map(({ scan }, file) => {
    const { map } = clocks.domains[clocks.domainOf[file]!]!;
    const scale = clocks.scales[file]!;
    return witness(scan, ends[file]!, (tick) => toTrace(map, toLocal(scale, tick)));
  });
  return judge({ comms, ranks, comparable: onOneAxis(clocks) });
}

function witness(scan: RankScan, ends: readonly WorkEnd[], time: (tick: number) => TraceNs): RankWitness {
  const { header, communicators, standstill, heartbeat, lastTick, hostWindow } = scan;
  const signs = [heartbeat?.tick ?? null, lastTick].filter((tick) => tick !== null);
  const lastSign = signs.length === 0 ? null : time(Math.max(...signs));
  const isClosed = header.life === 'closed';
  return {
    communicators: new Map(
      communicators.map(({ number, commId, name, rank, nRanks, finalizeTick }) => [
        number,
        { commId, name, rank, nRanks, finalized: finalizeTick === null ? null : time(finalizeTick) },
      ]),
    ),
    isClosed,
    lastSign,
    knownFrom: hostWindow === null ? (Infinity as TraceNs) : time(hostWindow),
    knownUntil: isClosed ? (Infinity as TraceNs) : knownUntil(scan, lastSign, time),
    isPartial: hostWindow !== 0,
    works: standstill.works.map(({ comm, func, seq, peer, ordinal, start, key, ops }) => ({
      comm,
      func,
      seq,
      peer,
      ordinal,
      start: time(start),
      record: `${keyRing(key)}:${keyPosition(key)}`,
      ops: ops.map((op) => witnessedOp(op, time)),
    })),
    lastMove: new Map([...standstill.lastMove].map(([number, tick]) => [number, time(tick)])),
    longestTransfer: longestTransfer(scan, ends, time),
    untold:
      ends.filter(({ outcome }) => UNTOLD.includes(outcome)).length + scan.silentCalls.size + scan.copyColls,
  };
}

const UNTOLD: readonly string[] = ['no-children', 'untold', 'outside-window'] satisfies WorkEnd['outcome'][];

function longestTransfer(
  { works }: RankScan,
  ends: readonly WorkEnd[],
  time: (tick: number) => TraceNs,
): number | null {
  let longest: number | null = null;
  ends.forEach(({ outcome, lastOp }, row) => {
    if (outcome !== 'complete' || lastOp === null || works.seq[row]! >= 0) return;
    longest = Math.max(longest ?? 0, time(lastOp) - time(works.arrival[row]!));
  });
  return longest;
}

/** Rings outside the file were copied into it now and then: later records are not here. */
function knownUntil(
  { header }: RankScan,
  lastSign: TraceNs | null,
  time: (tick: number) => TraceNs,
): TraceNs {
  if (header.placement === 'in-file') return lastSign ?? time(0);
  return time(header.copiedTick ?? 0);
}

function witnessedOp(
  { channel, peer, isSend, nSteps, done, step }: StandingOp,
  time: (tick: number) => TraceNs,
): WitnessedOp {
  const wait = step && { step: step.step, name: PHASE_NAME[step.phase], since: time(step.since) };
  return { channel, peer, isSend, nSteps, done, wait };
}
