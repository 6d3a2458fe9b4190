// How well hosts are put on one clock: `npm run bench:clocks [-- --smoke | --table | --wander | --command | --recordings 10]`.
// Without options clocks and delays are drawn (a minute). With --table many topologies, clocks that wander or jump, pauses and sizes that
// differ are drawn, beside least squares that are told more (--draws N: 12 take some ten minutes on a quiet core; --only TEXT: the rows whose
// name has it; --seed N: other draws). With --wander (and the same options) rates of clocks change, over 2, 10 and 60 minutes. With --recordings
// the loopback is recorded and its ranks are given clocks of their own (a few minutes each; --iterations N). The truth is known in all these.
// One line per case: error of pairs of hosts, whether truth lies inside the bounds, what the bounds are worth. --keep DIR: recordings stay
// there, and what is there already is not recorded again: two versions of the solver are compared on the same delays. With --command the
// command itself is measured on the files of a large ring (--hosts N; a minute, after `npm run build`).

import { fileURLToPath } from 'node:url';
import { clocksCommand } from './clocks_command.js';
import {
  gpuCase,
  ringCase,
  scaleCase,
  simulatedCases,
  type CaseResult,
} from '../test/support/clocks/clock_cases.js';
import { runTable, TABLE_CASES, wanderCases } from '../test/support/clocks/clock_table.js';
import { recordedCases, RING_OPS } from '../test/support/clocks/recorded_cases.js';

type Print = (line: string) => void;

export function simulated(smoke: boolean, print: Print): CaseResult[] {
  const hosts = smoke ? 64 : 1024;
  const results = [...simulatedCases(smoke), gpuCase(smoke ? 3 : 20), scaleCase(hosts), ringCase(hosts)];
  printAll(results, print);
  return results;
}

export async function recorded(
  recordings: number,
  iterations: number,
  ops: string,
  keep: string | null,
  print: Print,
) {
  const results = await recordedCases({ recordings, iterations, ops, keep, print });
  printAll(results, print);
  return results;
}

function printAll(results: readonly CaseResult[], print: Print): void {
  for (const { name, figures } of results) print(`${name.padEnd(52)} ${figures}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const print: Print = (line) => {
    console.log(line);
  };
  const isAsked = (name: string): boolean => process.argv.includes(name);
  const text = (name: string): string | undefined => {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const number = (name: string, otherwise: number): number => Number(text(name) ?? otherwise);
  const recordings = number('--recordings', 0);
  const keep = text('--keep') ?? null;
  if (recordings > 0) await recorded(recordings, number('--iterations', 20), RING_OPS, keep, print);
  else if (isAsked('--table') || isAsked('--wander')) {
    const cases = isAsked('--table') ? TABLE_CASES : [2, 10, 60].flatMap(wanderCases);
    const drawn = {
      draws: number('--draws', 12),
      only: new RegExp(text('--only') ?? '.'),
      seed: number('--seed', 1),
    };
    runTable(cases, drawn, print);
  } else if (isAsked('--command'))
    await clocksCommand(number('--hosts', 1024), fileURLToPath(new URL('../../..', import.meta.url)), print);
  else simulated(isAsked('--smoke'), print);
}
