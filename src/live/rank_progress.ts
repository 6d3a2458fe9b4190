/** How far each rank has come in each communicator, as numbers for dashboards. All of it is known to the study that made the verdict. */

import { entryOf } from '../base/grouped.js';
import { maxOf, minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { foldRanks } from '../base/ranks.js';
import type { Ticks } from '../base/time.js';
import { traceTimeOf } from '../clocks/domains.js';
import { communicatorsOf } from '../runs/communicators.js';
import type { PendingOp, PendingWork } from '../model/pending.js';
import { outcomeAt } from '../model/work_end_table.js';
import type { Study } from '../study/study.js';

/** What a rank did in a communicator. Times are seconds since the Unix epoch. */
export interface RankProgress {
  /** The ranks of its process: "3", or "0-7" if it drives several GPUs. */
  readonly rank: string;
  /** As in the verdict; 0: NCCL did not report it. */
  readonly comm: string;
  /** For people: "world", "tp ranks 0-3"; with a part of its ranks here "dp 1a2b", the same on all nodes. */
  readonly commName: string;
  readonly nRanks: number;
  /** By function: the number of the collective last entered, and last known to be finished (null: none is known to be). */
  readonly functions: readonly {
    readonly func: string;
    readonly entered: number;
    readonly finished: number | null;
  }[];
  /** When anything last began or ended there; null: nothing has. */
  readonly lastProgress: number | null;
  /** Collectives, sends and receives without an end, and the start of the oldest. */
  readonly open: number;
  readonly oldestOpen: number | null;
  /** What the oldest is and where it is: "AllReduce 12", "ch 0 recv 3/6 recv wait". */
  readonly current: { readonly call: string; readonly step: string } | null;
}

export function rankProgress({ run, ends, clocks }: Study): RankProgress[] {
  const { solution } = clocks;
  const names = namesOf(run);
  return run.members.flatMap(({ scan, ranks }, file) => {
    const time = traceTimeOf(solution, file);
    const seconds = (tick: number): number => Number(solution.traceStart) / 1e9 + time(tick) / 1e9;
    const functions = functionsOf(scan, ends[file]!);
    return scan.communicators.map(({ number, commId, name, nRanks }): RankProgress => {
      const open = scan.pending.works.filter(({ comm }) => comm === number);
      const lastMove = scan.pending.lastMove.get(number);
      return {
        rank: foldRanks(ranks),
        comm: hex64(commId),
        commName: names.get(hex64(commId)) ?? name,
        nRanks,
        functions: functions.get(number) ?? [],
        lastProgress: lastMove === undefined ? null : seconds(lastMove),
        open: open.length,
        oldestOpen: open.length === 0 ? null : seconds(minOf(open.map(({ start }) => start))),
        current: currentOf(open),
      };
    });
  });
}

/**
 * The same on all nodes, though each may have other ranks. So a group is named with its ranks, because another node has one of this kind, too.
 * If a part of its ranks is here, it has NCCL's name, or the size, with the begin of the id.
 */
function namesOf({ members, worldSize }: Study['run']): ReadonlyMap<string, string> {
  return new Map(
    communicatorsOf(members).map(({ commId, comm, kind = comm, nRanks, ranks }) => {
      if (ranks.length !== nRanks || comm === '')
        return [commId, `${kind || `${nRanks} ranks`} ${commId.slice(2, 6)}`];
      const isBare = comm === kind && nRanks < worldSize && !comm.startsWith('ranks ');
      return [commId, isBare ? `${comm} ranks ${foldRanks(ranks)}` : comm];
    }),
  );
}

/** `open`: in order of start. */
function currentOf([work]: readonly PendingWork<Ticks>[]): RankProgress['current'] {
  if (work === undefined) return null;
  const { func, seq, ops } = work;
  const op = ops.reduce<PendingOp<Ticks> | undefined>(
    (least, one) => (least === undefined || one.done < least.done ? one : least),
    undefined,
  );
  return {
    call: seq === null ? func : `${func} ${seq}`,
    step:
      op === undefined
        ? ''
        : `ch ${op.channel} ${op.isSend ? 'send' : 'recv'} ${op.done}/${op.nSteps}` +
          (op.wait === null ? '' : ` ${op.wait.name}`),
  };
}

/** An end that is lost is an end all the same. */
const FINISHED: readonly string[] = ['complete', 'end-lost'];

function functionsOf(
  { works }: Study['run']['members'][number]['scan'],
  ends: Study['ends'][number],
): Map<number, { func: string; entered: number; finished: number | null }[]> {
  const found = new Map<number, { func: string; entered: number; finished: number | null }[]>();
  works.comm.forEach((comm, row) => {
    const seq = works.seq[row]!;
    if (comm < 0 || seq < 0) return;
    const func = works.funcs[works.func[row]!]!;
    const all = entryOf(found, comm, () => []);
    let one = all.find((other) => other.func === func);
    if (one === undefined) all.push((one = { func, entered: seq, finished: null }));
    one.entered = Math.max(one.entered, seq);
    if (FINISHED.includes(outcomeAt(ends, row))) one.finished = maxOf([seq], one.finished ?? -Infinity);
  });
  return found;
}
