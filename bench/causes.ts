// Which cause of slowness the report names: `npm run bench:causes [-- --runs 5] [--healthy 20] [--seed N] [--only WHAT]`.
// The loopback records jobs that are slow on purpose, each at a rank drawn by chance, and healthy ones. Prints a table per class:
// how often the cause was named with its rank, named with what cannot be told, wrong with certainty, or not found.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { examine } from '../src/report/examine.js';
import type { RunReport } from '../src/report/run_report.js';
import { record } from '../test/support/loopback.js';

type Found = RunReport['causes'][number];
type Outcome = 'named' | 'cannot tell' | 'wrong' | 'not found';

interface FaultClass {
  readonly args: string;
  readonly slow: (rank: number) => string;
  /** Causes that are right; each must name the rank, unless it is about everything. */
  readonly right: readonly Found['cause'][];
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    healthy: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});

const RANKS = 5;
const SHORT = `--ranks ${RANKS} --channels 1 --iterations 24 --ops allreduce:64K`;
const LONG = `--ranks ${RANKS} --channels 2 --iterations 12 --ops allreduce:1M`;
const CLASSES: Readonly<Record<string, FaultClass>> = {
  'late rank, host': { args: SHORT, slow: (rank) => `host:${rank}:100ms`, right: ['late rank'] },
  'late rank, GPU': { args: SHORT, slow: (rank) => `gpu:${rank}:100ms`, right: ['late rank'] },
  'since a moment': {
    args: `--ranks ${RANKS} --channels 1 --iterations 40 --ops allreduce:64K`,
    slow: (rank) => `host:${rank}:120ms@20`,
    right: ['late rank', 'slower since'],
  },
  'slow link': { args: LONG, slow: (rank) => `link:${rank}:8`, right: ['slow link'] },
  'thin channel': { args: LONG, slow: (rank) => `channel:${rank}:8`, right: ['thin channel'] },
  'slow NIC': { args: LONG, slow: (rank) => `nic:${rank}:8`, right: ['slow NIC'] },
  'slow GPU': { args: LONG, slow: (rank) => `slice:${rank}:3ms`, right: ['slow GPU', 'late rank'] },
  'starved proxy thread': { args: LONG, slow: (rank) => `proxy:${rank}:3ms`, right: [] },
};
const HEALTHY = [
  SHORT,
  LONG,
  `--ranks ${RANKS} --channels 2 --iterations 20 --ops allreduce:256K,allgather:64K`,
];

let state = Number(values.seed);
/** Park and Miller: the same ranks for the same seed. */
const draw = (below: number): number => (state = (state * 48271) % 2147483647) % below;

const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-causes-'));
let recordings = 0;

async function causesIn(args: string): Promise<readonly Found[]> {
  const { folder: recording } = await record(join(folder, String(recordings++)), args);
  const { report } = await examine([recording], { jobs: 1 });
  rmSync(join(folder, String(recordings - 1)), { recursive: true });
  return report.causes;
}

/** Any wrong claim counts before a right one. */
function outcomeOf(causes: readonly Found[], right: readonly Found['cause'][], rank: number): Outcome {
  const isDoubt = (one: Found): boolean => 'cannotTell' in one && one.cannotTell !== null;
  const isOf = (one: Found): boolean => !('rank' in one) || one.rank === rank;
  if (
    causes.some(
      (one) => !isOf(one) || (!right.includes(one.cause) && !isDoubt(one) && one.cause !== 'slower since'),
    )
  )
    return 'wrong';
  const own = causes.filter((one) => 'rank' in one);
  if (own.some((one) => right.includes(one.cause) && !isDoubt(one))) return 'named';
  return own.length > 0 ? 'cannot tell' : 'not found';
}

const OUTCOMES: readonly Outcome[] = ['named', 'cannot tell', 'wrong', 'not found'];
const line = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(24) + cells.map((cell) => String(cell || '·').padStart(12)).join('');

try {
  process.stderr.write(`about 5 s per run, ${values.runs} runs per row\n`);
  console.log(line('slow on purpose', ['runs', ...OUTCOMES]));
  for (const [name, { args, slow, right }] of Object.entries(CLASSES)) {
    if (values.only !== undefined && !name.includes(values.only)) continue;
    const outcomes: Outcome[] = [];
    for (let run = 0; run < Number(values.runs); run++) {
      const rank = draw(RANKS);
      const causes = await causesIn(`${args} --slow ${slow(rank)}`);
      const outcome = outcomeOf(causes, right, rank);
      outcomes.push(outcome);
      if (outcome === 'wrong' || outcome === 'not found')
        process.stderr.write(
          `${name}, rank ${rank}: ${causes.map(({ says }) => says).join(' | ') || 'no cause'}\n`,
        );
    }
    const counts = OUTCOMES.map((outcome) => outcomes.filter((one) => one === outcome).length);
    console.log(line(name, [outcomes.length, ...counts]));
  }
  let alarms = 0;
  const healthy = values.only === undefined || 'healthy'.includes(values.only) ? Number(values.healthy) : 0;
  for (let run = 0; run < healthy; run++) {
    process.stderr.write(`healthy ${run + 1}/${healthy}\n`);
    const causes = await causesIn(HEALTHY[run % HEALTHY.length]!);
    if (causes.length > 0) alarms++;
    for (const { says } of causes) process.stderr.write(`healthy: ${says}\n`);
  }
  console.log(`healthy: ${healthy} runs, ${alarms} with a cause`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
