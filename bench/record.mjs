// What recording costs: one callback (build/record_bench, held against the goal of the design), how even callbacks are
// (build/stall_bench), and what a whole job of four loopback ranks notices of it.
//
//   npm run bench:record             all rounds, some minutes; exit 1 when a goal of a callback is missed
//   node bench/record.mjs --only callbacks   or stalls, or jobs
//   node bench/record.mjs --smoke    a few rounds, goals shown but not judged: does it still run?
//   node bench/record.mjs --json     the figures alone
//
// The goal for a callback is max(1.5 x a bare tick read, tick + 10 ns) in the same run; twice that for the starts of
// Coll and P2p, which carry four and three slots. Figures of a busy machine are worth nothing: repeat them.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const REFERENCES = [
  'bare tick',
  'tick and store',
  'clock_gettime',
  'pool and references, start',
  'pool and references, stop',
];
/** A folded repeat and a muted event record nothing. */
const CHEAP = ['folded repeat', 'folded repeated start', 'muted state', 'muted start'];
const TWICE_AS_LARGE = ['Coll start', 'P2p start'];
const SMOKE_ROUNDS = 3;
const ROUNDS = 400;

const { smoke, json, only } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
}).values;
const build = fileURLToPath(new URL('../build', import.meta.url));
const plugin = path.join(build, 'libnccl-profiler-trace.so');
const wanted = (part) => only === undefined || only === part;

const cases = wanted('callbacks') ? measure(smoke ? SMOKE_ROUNDS : ROUNDS) : [];
const stalls = wanted('stalls') ? measureStalls(smoke ? 20 : 20_000) : [];
const jobs = wanted('jobs') ? measureJobs(smoke ? 2 : 25, smoke ? 5 : 200) : undefined;
if (json) console.log(JSON.stringify({ cases, stalls, jobs }, undefined, 2));
else {
  if (cases.length > 0) printTable(cases);
  if (stalls.length > 0) printStalls(stalls);
  if (jobs !== undefined) printJobs(jobs);
}
if (!smoke && cases.some(({ missed }) => missed)) process.exitCode = 1;

function measure(rounds) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
  try {
    const env = {
      PATH: process.env.PATH,
      RANK: '0',
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_EVENTS: 'all',
    };
    const args = [plugin, String(rounds)];
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
      : CHEAP.includes(name)
        ? tick + 3
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

/** Rings on tmpfs and in a file on disk, each beside rings in memory; with and without a writer of checkpoints. */
function measureStalls(thousands) {
  const results = [];
  for (const place of ['tmpfs', 'disk']) {
    for (const beside of ['nothing', 'checkpoints']) {
      const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
      const rings = place === 'tmpfs' ? mkdtempSync('/dev/shm/nccl-trace-bench-') : undefined;
      try {
        // A library is loaded once per file.
        const copy = path.join(folder, 'copy.so');
        copyFileSync(plugin, copy);
        const env = {
          PATH: process.env.PATH,
          NCCL_TRACE_DIR: path.join(folder, 'run'),
          NCCL_TRACE_EVENTS: 'all',
        };
        const args = [plugin, copy, rings ?? 'none', String(thousands)];
        if (smoke) env.NCCL_TRACE_RING_MB = '1';
        if (beside === 'checkpoints') args.push(path.join(folder, 'checkpoint'));
        const out = execFileSync(path.join(build, 'stall_bench'), args, { env, encoding: 'utf8' });
        results.push({ place, beside, ...JSON.parse(out) });
      } finally {
        rmSync(folder, { recursive: true, force: true });
        if (rings !== undefined) rmSync(rings, { recursive: true, force: true });
      }
    }
  }
  return results;
}

function printStalls(results) {
  console.log('\nProxyStep starts, in turns       median  p99.9    stalls over 10 us per million');
  for (const { place, beside, calls, faults, series } of results) {
    console.log(`rings on ${place}, beside ${beside} (${calls / 1e6} M each, ${faults} page faults)`);
    for (const { name, median, p999, stalls: count } of series) {
      console.log(
        `  ${name.padEnd(30)}${median.toFixed(0).padStart(6)} ${p999.toFixed(0).padStart(6)} ${count.toFixed(1).padStart(9)}`,
      );
    }
  }
}

/** Pairs of the same job with and without the plugin, the first of each pair by turns. Its work, without start and end. */
function measureJobs(pairs, iterations) {
  const words = `--ranks 4 --channels 2 --iterations ${iterations} --ops allreduce:256K --quiet --json`.split(
    ' ',
  );
  const seconds = (recorded) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
    const env = recorded
      ? { NCCL_PROFILER_PLUGIN: plugin, NCCL_TRACE_DIR: folder, NCCL_TRACE_RING_MB: smoke ? '1' : '64' }
      : { NCCL_PROFILER_PLUGIN: 'none' };
    try {
      const out = execFileSync(path.join(build, 'nccl-trace-loopback'), words, {
        env: { PATH: process.env.PATH, ...env },
        encoding: 'utf8',
      });
      return Math.max(...JSON.parse(out).perRank.map(({ workMs }) => workMs)) / 1000;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const differences = [];
  const off = [];
  for (let pair = 0; pair < pairs; pair++) {
    const first = seconds(pair % 2 === 0);
    const second = seconds(pair % 2 !== 0);
    const [on, without] = pair % 2 === 0 ? [first, second] : [second, first];
    off.push(without);
    differences.push((on - without) / without);
  }
  return {
    pairs,
    seconds: median(off),
    difference: median(differences),
    interval: intervalOfMedian(differences),
  };
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Of the median, 95 %, by order statistics: no assumption about how the differences are distributed. */
function intervalOfMedian(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  let below = 0;
  let probability = 2 ** -n;
  let k = 0;
  while (k < n / 2 && below + probability <= 0.025) {
    below += probability;
    probability *= (n - k) / (k + 1);
    k++;
  }
  return k === 0 ? undefined : [sorted[k - 1], sorted[n - k]];
}

function printJobs({ pairs, seconds, difference, interval }) {
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  const width = interval === undefined ? Infinity : interval[1] - interval[0];
  console.log(
    `\n4 loopback ranks, ${pairs} pairs of ${seconds.toFixed(2)} s, recorded against not: median ${percent(difference)}`,
  );
  if (interval === undefined) console.log('too few pairs for an interval');
  else
    console.log(
      `95 % interval ${percent(interval[0])} to ${percent(interval[1])}${width > 0.02 ? ': not resolved at 1 %' : ''}`,
    );
}
