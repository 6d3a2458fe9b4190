// What one callback costs: runs build/record_bench and holds its medians against the goal of the design.
//
//   npm run bench:record             all rounds, about ten seconds; exit 1 when a goal is missed
//   node bench/record.mjs --smoke    a few rounds, goals shown but not judged: does it still run?
//   node bench/record.mjs --json     the figures alone
//
// The goal for a callback is max(1.5 x a bare tick read, tick + 10 ns) in the same run; twice that for the starts of
// Coll and P2p, which carry four and three slots. Figures of a busy machine are worth nothing: repeat them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const REFERENCES = ['bare tick', 'tick and store', 'clock_gettime'];
const TWICE_AS_LARGE = ['Coll start', 'P2p start'];
const SMOKE_ROUNDS = 3;
const ROUNDS = 400;

const { smoke, json } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
}).values;

const cases = measure(smoke ? SMOKE_ROUNDS : ROUNDS);
if (json) console.log(JSON.stringify(cases, undefined, 2));
else printTable(cases);
if (!smoke && cases.some(({ missed }) => missed)) process.exitCode = 1;

function measure(rounds) {
  const build = fileURLToPath(new URL('../build', import.meta.url));
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
  try {
    const env = {
      PATH: process.env.PATH,
      RANK: '0',
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_EVENTS: 'all',
    };
    const args = [path.join(build, 'libnccl-profiler-trace.so'), String(rounds)];
    return judge(
      JSON.parse(execFileSync(path.join(build, 'record_bench'), args, { env, encoding: 'utf8' })).cases,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(measured) {
  const tick = measured.find(({ name }) => name === 'bare tick').ns;
  return measured.map(({ name, ns }) => {
    const goal = REFERENCES.includes(name)
      ? undefined
      : Math.max(1.5 * tick, tick + 10) * (TWICE_AS_LARGE.includes(name) ? 2 : 1);
    return { name, ns, ticks: ns / tick, goal, missed: goal !== undefined && ns > goal };
  });
}

function printTable(rows) {
  console.log('median per call              ns   x tick    goal');
  for (const { name, ns, ticks, goal, missed } of rows) {
    const cells = [
      name.padEnd(26),
      ns.toFixed(1).padStart(5),
      ticks.toFixed(2).padStart(8),
      (goal?.toFixed(1) ?? '').padStart(7),
      missed ? 'missed' : '',
    ];
    console.log(cells.join(' ').trimEnd());
  }
}
