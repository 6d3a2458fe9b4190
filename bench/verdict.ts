// Whom the verdict names if something is wrong on purpose: `npm run bench:verdict [-- --runs 10] [--seed N] [--only WHAT]`.
// The loopback records every class of faults and of healthy jobs several times, each time with new random choices, and `inspect
// --json` gives the verdict. Prints a table per class, then every run with a wrong verdict and how to repeat it.
//
//   --runs N     of each class of faults; healthy ones about as many in all (10)
//   --seed N     draws the same cases again (1). What the machine does meanwhile is not drawn: a busy one may change a verdict
//   --only WHAT  part of a class's name, one run ("never calls#3"), faulty, healthy
//   --jobs N     side by side (2)
//   --minutes M  begin no run after that (60)
//   --keep DIR   recordings stay there, each with its case and diagnosis
//   --list       only print the cases

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Case } from './verdict/case.js';
import { casesOf } from './verdict/plan.js';
import type { Played } from './verdict/play.js';
import { playAll } from './verdict/pool.js';
import { missLines, tableOf } from './verdict/table.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '60' },
    keep: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

function numberOf(name: 'runs' | 'seed' | 'jobs' | 'minutes'): number {
  const value = Number(values[name]);
  if (!Number.isFinite(value) || value < 1)
    throw new Error(`--${name} must be a number from 1 up, not '${values[name]}'`);
  return value;
}

const cases = casesOf({ seed: numberOf('seed'), runs: numberOf('runs'), only: values.only ?? null });
if (values.list) {
  for (const { name, args, look, settings } of cases) {
    console.log(`${name}\n  ${args}\n  ${JSON.stringify(settings)}\n  ${JSON.stringify(look)}`);
  }
} else {
  await runAll(cases);
}

async function runAll(all: readonly Case[]): Promise<void> {
  const keep = values.keep !== undefined;
  const folder = keep ? resolve(values.keep!) : mkdtempSync(join(tmpdir(), 'nccl-trace-verdict-'));
  const until = performance.now() + numberOf('minutes') * 60_000;
  process.stderr.write(`${all.length} runs, at most ${values.minutes} minutes\n`);
  let count = 0;
  const onPlayed = ({ case: one, outcome, naming, seconds }: Played): void => {
    const place = `${++count}/${all.length}`;
    process.stderr.write(
      `${place}  ${outcome.padEnd(8)}  ${one.name}  (${naming.kind}, ${seconds.toFixed(1)} s)\n`,
    );
  };
  try {
    const results = await playAll(all, { folder, jobs: numberOf('jobs'), keep, until, onPlayed });
    const again = (name: string): string =>
      `npm run bench:verdict -- --seed ${values.seed} --only '${name}' --keep DIR`;
    for (const line of [...tableOf(results), ...missLines(results, again)]) console.log(line);
    const left = all.length - results.length;
    if (left > 0) console.log(`${left} runs not begun: --minutes ${values.minutes}`);
  } finally {
    if (!keep) rmSync(folder, { recursive: true, force: true });
  }
}
