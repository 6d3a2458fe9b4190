// Which cause of slowness the report names: `npm run bench:causes [-- --runs 5] [--healthy 20] [--seed N] [--only WHAT] [--keep DIR]`.
// The loopback records jobs that are slow on purpose, each at a rank drawn by chance, and healthy ones. Prints a table per class:
// how often the cause was named with its rank; named, but another is not excluded; only another that is not excluded; wrong with certainty; not found.
// --keep: the recordings of wrong and missed runs stay there.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { examine } from '../src/report/examine.js';
import type { RunReport } from '../src/report/run_report.js';
import { isTrulySlow } from './verdict/truly_slow.js';
import { record } from '../test/support/jobs/loopback.js';

/** A cause, or the late rank or GPU that the verdict names. */
type Found =
  | RunReport['causes'][number]
  | {
      readonly rule: 'late rank' | 'slow GPU';
      readonly about: { readonly rank: RunReport['ranks'][number]['rank'] };
      readonly says: string;
    };
type Outcome = 'named' | 'with a doubt' | 'cannot tell' | 'wrong' | 'not found';

interface FaultClass {
  readonly job: (rank: number) => string;
  /** Causes that are right; one about a rank must name it. */
  readonly right: readonly Found['rule'][];
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    healthy: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
});

const RANKS = 5;
const SHORT = `--ranks ${RANKS} --channels 1 --iterations 24 --ops allreduce:64K`;
const LONG = `--ranks ${RANKS} --channels 2 --iterations 20 --ops allreduce:512K`;
/** Each rank sends to all others. */
const ALL = `--ranks ${RANKS} --channels 1 --iterations 20 --ops allreduce:512K,alltoall:640K`;
const BROADCASTS = `--abi 5 --ranks ${RANKS} --channels 1 --iterations 10`;
const CLASSES: Readonly<Record<string, FaultClass>> = {
  'late rank, host': slow(SHORT, 'host', '100ms', ['late rank']),
  'late rank, GPU': slow(SHORT, 'gpu', '100ms', ['late rank']),
  'since a moment': slow(SHORT.replace('24', '40'), 'host', '120ms@20', ['late rank', 'slower since']),
  'slow link of several': slow(ALL, 'link', '8', ['slow link']),
  'slow link in a ring': slow(LONG, 'link', '8', ['slow link']),
  'thin channel': slow(LONG, 'channel', '8', ['thin channel']),
  'slow NIC in a ring': slow(LONG, 'nic', '8', ['slow NIC']),
  'slow GPU, consumer': slow(LONG, 'slice', '3ms', ['slow GPU', 'late rank']),
  'slow GPU, producer': {
    job: (rank) => `${BROADCASTS} --ops broadcast(${rank}):4M --slow slice:${rank}:100ms`,
    right: ['slow GPU'],
  },
  'starved proxy thread': slow(LONG, 'proxy', '3ms', ['starved proxy thread']),
  contention: {
    job: () =>
      `--ranks ${RANKS} --channels 1 --iterations 14 --rate-limit 1 --groups b=${RANKS} ` +
      '--ops allreduce:128K,sync,allreduce@b:128K,sync,group{allreduce:128K+allreduce@b:128K},sync',
    right: ['contention'],
  },
  'unlike algorithm': {
    job: () =>
      `--ranks ${RANKS} --channels 1 --iterations 16 --rate-limit 4 --ops allreduce:512K*2,allreduce:512K/tree`,
    right: ['unlike algorithm'],
  },
};
const HEALTHY = [
  SHORT,
  LONG,
  `--ranks ${RANKS} --channels 2 --iterations 20 --ops allreduce:256K,allgather:64K`,
];

function slow(job: string, what: string, amount: string, right: FaultClass['right']): FaultClass {
  return { job: (rank) => `${job} --slow ${what}:${rank}:${amount}`, right };
}

let state = Number(values.seed);
/** Park and Miller: the same ranks for the same seed. */
const draw = (below: number): number => (state = (state * 48271) % 2147483647) % below;

if (values.keep !== undefined) mkdirSync(values.keep, { recursive: true });
const folder = mkdtempSync(join(values.keep ?? tmpdir(), 'nccl-trace-causes-'));
let recordings = 0;

async function causesIn(
  args: string,
  isGood: (causes: readonly Found[], truth: string, commId: string) => boolean,
): Promise<readonly Found[]> {
  const place = join(folder, String(recordings++));
  const { folder: recording, truth } = await record(place, args);
  const { report } = await examine([recording], { jobs: 1 });
  const { verdict, ranks, headline, collectives } = report;
  const slow = verdict.kind === 'slow' && verdict.slow.on !== 'link' ? verdict.slow : null;
  const late =
    slow &&
    ({
      rule: slow.taker ? 'slow GPU' : 'late rank',
      about: { rank: ranks[slow.file]!.rank },
      says: headline,
    } as const);
  const causes: readonly Found[] = [...(late ? [late] : []), ...report.causes];
  const commId = collectives.shown[0]?.commId ?? '0';
  if (isGood(causes, truth, commId) || values.keep === undefined) rmSync(place, { recursive: true });
  return causes;
}

/** Any wrong claim counts before a right one. */
function outcomeOf(causes: readonly Found[], right: readonly Found['rule'][], rank: number): Outcome {
  const isDoubt = (one: Found): boolean => 'cannotTell' in one.about && one.about.cannotTell !== null;
  const isOf = (one: Found): boolean => !('rank' in one.about) || one.about.rank === rank;
  const isRight = (one: Found): boolean => right.includes(one.rule) && isOf(one);
  if (causes.some((one) => !isOf(one) || (!isRight(one) && !isDoubt(one)))) return 'wrong';
  if (causes.some((one) => isRight(one) && one.rule !== 'slower since'))
    return causes.some(isDoubt) ? 'with a doubt' : 'named';
  return causes.length > 0 ? 'cannot tell' : 'not found';
}

const isMiss = (outcome: Outcome): boolean => outcome === 'wrong' || outcome === 'not found';
const OUTCOMES: readonly Outcome[] = ['named', 'with a doubt', 'cannot tell', 'wrong', 'not found'];
const line = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(24) + cells.map((cell) => String(cell || '·').padStart(12)).join('');

try {
  process.stderr.write(`about 5 s per run, ${values.runs} runs per row\n`);
  console.log(line('slow on purpose', ['runs', ...OUTCOMES]));
  for (const [name, { job, right }] of Object.entries(CLASSES)) {
    if (values.only !== undefined && !name.includes(values.only)) continue;
    const outcomes: Outcome[] = [];
    for (let run = 0; run < Number(values.runs); run++) {
      const rank = draw(RANKS);
      const judge = (causes: readonly Found[]): Outcome => outcomeOf(causes, right, rank);
      const causes = await causesIn(job(rank), (found) => !isMiss(judge(found)));
      const outcome = judge(causes);
      outcomes.push(outcome);
      if (isMiss(outcome))
        process.stderr.write(
          `${name}, rank ${rank}, recording ${recordings - 1}: ${causes.map(({ says }) => says).join(' | ') || 'no cause'}\n`,
        );
    }
    const counts = OUTCOMES.map((outcome) => outcomes.filter((one) => one === outcome).length);
    console.log(line(name, [outcomes.length, ...counts]));
  }
  const seen = { alarms: 0, late: 0 };
  const healthy = values.only === undefined || 'healthy'.includes(values.only) ? Number(values.healthy) : 0;
  for (let run = 0; run < healthy; run++) {
    process.stderr.write(`healthy ${run + 1}/${healthy}\n`);
    const causes = await causesIn(HEALTHY[run % HEALTHY.length]!, (found, truth, commId) => {
      if (found.length === 0) return true;
      // A busy machine really holds up ranks.
      const isLate = found.every(
        (one) => one.rule === 'late rank' && isTrulySlow(truth, Number(one.about.rank), commId),
      );
      seen[isLate ? 'late' : 'alarms']++;
      return isLate;
    });
    for (const { says } of causes) process.stderr.write(`healthy: ${says}\n`);
  }
  console.log(
    `healthy: ${healthy} runs, ${seen.alarms} with a cause, ${seen.late} with a rank that really was late`,
  );
} finally {
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}
