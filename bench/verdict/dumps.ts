/**
 * Classes in which only the dumps of PyTorch's Flight Recorder are read. The loopback has no PyTorch: the dumps are made of the ranks' own
 * account, in PyTorch's form. A process that was killed leaves none.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeDumps, type MadeUpCall } from '../../test/support/made_up/flight_dumps.js';
import { readTruth, tasksOf, type TruthLine } from '../../test/support/jobs/truth.js';
import { mismatch, never } from './call_faults.js';
import { blame, stalling, type DrawCase } from './scenes.js';

/** PyTorch's name of a collective, by NCCL's. */
const OPS: Readonly<Record<string, string>> = {
  AllReduce: 'all_reduce',
  AllGather: '_all_gather_base',
  ReduceScatter: '_reduce_scatter_base',
};
/** No sends: their number in PyTorch differs from NCCL's. */
const WORK = {
  ops: ['allreduce:256K', 'allreduce:64K,allgather:256K', 'reducescatter:256K,allgather:256K,allreduce:8K'],
  leastAbi: 4,
  canBeLive: false,
};

/** The last account is written when the process ends by itself. */
export const asDumps =
  (drawCase: DrawCase): DrawCase =>
  (draw) => ({ ...drawCase(draw), look: { after: 0, isLive: false, how: 'dumps' } });

export const DUMP_FAULTS: Readonly<Record<string, DrawCase>> = {
  'dumps: never calls': asDumps(never(WORK)),
  'dumps: never calls, one communicator of several': asDumps(
    never({ ...WORK, ops: ['allreduce@tp:64K*3,allreduce:8K'], ranksOf: [4, 8], groups: 'tp=2' }),
  ),
  'dumps: never calls, beside a job that went well': asDumps((draw) => ({
    ...never(WORK)(draw),
    earlier: { args: '--ranks 4 --iterations 40 --ops allreduce:64K,sleep:20ms', isOver: true },
  })),
  'dumps: never calls, a clock is minutes ahead': (draw) => {
    const drawn = asDumps(never({ ...WORK, ops: ['allreduce:64K*6,allgather:64K*4'] }))(draw);
    return { ...drawn, look: { ...drawn.look, aheadMinutes: draw.between(2, 30) } };
  },
  'dumps: other count': asDumps(mismatch('allreduce:128K', 'allreduce:96K', WORK)),
  'dumps: other function': asDumps(mismatch('allreduce:128K', 'reducescatter:128K', WORK)),
  'dumps: other order': asDumps(
    mismatch('allreduce:128K,allgather:128K', 'allgather:128K,allreduce:128K', WORK),
  ),
  'dumps: a wrong branch, and the hang comes later': asDumps(
    mismatch('allreduce:64K*2,allreduce:64K*3', 'allreduce:64K,allgather:64K,allreduce:64K*2', WORK),
  ),
  'dumps: killed': asDumps(
    stalling(WORK, ({ rank, at }) => ({ args: `--fault kill:${rank}@${at}:before`, truth: blame(rank) })),
  ),
  'dumps: kernel never begins': asDumps(
    stalling(WORK, ({ rank, at }) => ({ args: `--fault gpu-start:${rank}@${at}`, truth: blame(rank) })),
  ),
};

/** Writes the dumps of a job's ranks into a folder. */
export function dumpTruth(truth: string, folder: string, ranks: number, aheadMinutes = 0): void {
  const accounts = Array.from({ length: ranks }, (_, rank) =>
    existsSync(join(truth, `truth-${rank}.jsonl`)) ? wholeLines(truth, rank) : [],
  );
  const groups = new Map<string, number[]>();
  const names = new Map<string, string>();
  accounts.forEach((lines, rank) => {
    for (const { comm, name } of lines.filter(({ kind }) => kind === 'comm') as CommTruth[]) {
      groups.set(comm, [...(groups.get(comm) ?? []), rank]);
      names.set(comm, name);
    }
  });
  writeDumps(
    folder,
    {
      groups: Object.fromEntries(groups),
      descriptions: Object.fromEntries(names),
      calls: accounts.map((lines, rank) =>
        hasEnded(lines) ? callsOf(lines, rank === 0 ? aheadMinutes * 60e9 : 0) : null,
      ),
      firstRecord: 0,
    },
    null,
  );
}

interface CommTruth extends TruthLine {
  readonly comm: string;
  readonly name: string;
}

/** The last line of a killed process may be half of one. */
function wholeLines(truth: string, rank: number): TruthLine[] {
  try {
    return readTruth(truth, rank);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

const hasEnded = (lines: readonly TruthLine[]): boolean =>
  lines.some(({ kind, final }) => kind === 'totals' && final === true);

/** `ahead`: ns. */
function callsOf(lines: readonly TruthLine[], ahead: number): MadeUpCall[] {
  const seqs = new Map<string, number>();
  const tasks = tasksOf(lines).sort((a, b) => a.startNs - b.startNs);
  const begin = tasks[0]?.startNs ?? 0;
  return tasks.map(({ comm, func, count, completed, begunNs, endNs, startNs }) => {
    const seq = (seqs.get(comm) ?? 0) + 1;
    seqs.set(comm, seq);
    return {
      group: comm,
      seq,
      op: OPS[func] ?? func,
      state: completed ? 'completed' : begunNs === null ? 'scheduled' : 'started',
      sizes: [[count]],
      at: startNs - begin + ahead,
      ...(begunNs !== null && { startedAfter: begunNs - startNs }),
      ...(completed && endNs !== null && { endedAfter: endNs - startNs }),
    };
  });
}
