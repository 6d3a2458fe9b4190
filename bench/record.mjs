// The cost of recording: of one callback, against the design's goal (build/record_bench), tails and stalls (build/stall_bench), and
// the cost for a whole job of four loopback ranks (record_jobs.mjs).
//
//   npm run bench:record             all rounds, some minutes; exit 1 when a goal of a callback is missed
//   node bench/record.mjs --only callbacks   or chain, or cold, or stalls, or jobs (as long as --minutes, 10)
//   node bench/record.mjs --smoke    a few rounds, goals shown but not judged: does it still run?
//   node bench/record.mjs --json     the figures alone
//
// The goal for a callback, in every version of the interface, is max(1.5 x a bare tick read, tick + 10 ns) in the same
// run; twice that for the starts of Coll, P2p and CeColl, which carry four and three slots; tick + 3 ns for what records
// nothing. The loop around the calls is subtracted from both. On a busy machine compare only the
// instructions (of v6, or the next version that has the callback).

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureJobs, printJobs } from './record_jobs.mjs';

/** A folded repeat and a muted event record nothing. */
const CHEAP = ['folded repeat', 'folded repeated start', 'muted state', 'muted start'];
const TWICE_AS_LARGE = ['Coll start', 'P2p start', 'CeColl start'];
const SMOKE_ROUNDS = 3;
const ROUNDS = 200;
const VERSIONS = [1, 2, 3, 4, 5, 6, 7];

const { smoke, json, only, minutes } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    minutes: { type: 'string', default: '10' },
  },
}).values;
const build = fileURLToPath(new URL('../build', import.meta.url));
const plugin = path.join(build, 'libnccl-profiler-trace.so');
/** Says what begins, and how long it takes. */
const wanted = (part) => {
  const isWanted = only === undefined || only === part;
  if (isWanted && !smoke) process.stderr.write(`${part}: ${part === 'jobs' ? minutes : 'a few'} minutes\n`);
  return isWanted;
};

const cases = wanted('callbacks') ? measure(smoke ? SMOKE_ROUNDS : ROUNDS) : [];
const chain = wanted('chain') ? measureChain(smoke ? SMOKE_ROUNDS : ROUNDS / 4) : [];
const cold = wanted('cold') ? measureCold(smoke ? 50 : 10_000) : [];
const stalls = wanted('stalls') ? measureStalls(smoke ? 20 : 20_000) : [];
const jobs = wanted('jobs')
  ? measureJobs({
      build,
      nsPerCallback: nsPerCallback(),
      ...(smoke
        ? { seconds: 0, settleMs: 0, ringMb: 1, most: 1 }
        : { seconds: Number(minutes) * 30, settleMs: 200, ringMb: 16 }),
    })
  : [];
if (json) console.log(JSON.stringify({ cases, chain, cold, stalls, jobs }, undefined, 2));
else {
  if (cases.length > 0) printTable(cases);
  if (chain.length > 0) printChain(chain);
  if (cold.length > 0) printCold(cold);
  if (stalls.length > 0) printStalls(stalls);
  printJobs(jobs);
}
if (!smoke && cases.some(({ missed }) => missed)) process.exitCode = 1;

/** The mean of a step's five callbacks, which are most callbacks of a job. */
function nsPerCallback() {
  const measured = cases.length > 0 ? cases : measure(smoke ? SMOKE_ROUNDS : 20);
  return measured.find(({ name, version }) => name.startsWith('step life') && version === 6).ns;
}

function measure(rounds) {
  return judge(runAlone('record_bench', rounds).cases);
}

/** v6 without and with another plugin behind ours, in turn; of each call the middle one of three runs. */
function measureChain(rounds) {
  const others = path.join(build, 'libnccl-profiler-stub.so');
  const runs = [1, 2, 3].map(() => ({
    alone: runAlone('record_bench', rounds, ['6']).cases,
    chained: runAlone('record_bench', rounds, ['6'], { NCCL_TRACE_CHAIN: others }).cases,
  }));
  const middle = (of, i) => runs.map((run) => run[of][i].ns).sort((a, b) => a - b)[1];
  return runs[0].alone.map(({ name }, i) => ({
    name,
    alone: middle('alone', i),
    chained: middle('chained', i),
  }));
}

function printChain(rows) {
  console.log(`\nmedian per call, ns          alone  with another plugin (its own part included)`);
  for (const { name, alone, chained } of rows)
    console.log(name.padEnd(27) + [alone, chained].map((ns) => ns.toFixed(1).padStart(7)).join(''));
}

/** A program that loads the plugin and measures. */
function runAlone(program, rounds, more = [], settings = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
  try {
    const env = {
      PATH: process.env.PATH,
      RANK: '0',
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_EVENTS: 'all',
      ...settings,
    };
    const args = [plugin, String(rounds), ...more];
    return JSON.parse(execFileSync(path.join(build, program), args, { env, encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measureCold(rounds) {
  return runAlone('cold_bench', rounds).sizes;
}

/** A line per call, a column per number of bytes moved before it. */
function printCold(sizes) {
  const title = sizes.map(({ kib }) => `${kib} KiB`.padStart(10)).join('');
  console.log(`\nns, after data was moved    ${title}`);
  for (const { name } of sizes[0].calls) {
    const cells = sizes.map(({ calls }) =>
      calls
        .find((call) => call.name === name)
        .ns.toFixed(0)
        .padStart(10),
    );
    console.log(name.padEnd(28) + cells.join(''));
  }
}

function judge(measured) {
  const tick = measured.find(({ name }) => name === 'bare tick').ns;
  return measured.map((row) => {
    const goal =
      row.version === 0
        ? undefined
        : CHEAP.includes(row.name)
          ? tick + 3
          : Math.max(1.5 * tick, tick + 10) * (TWICE_AS_LARGE.includes(row.name) ? 2 : 1);
    return { ...row, goal, missed: goal !== undefined && row.ns > goal };
  });
}

/** A line per callback, a column per version of the interface; a reference in the first. */
function printTable(rows) {
  const title = VERSIONS.map((version) => `v${version}`.padStart(7)).join('');
  console.log(`median per call, ns        ${title}   goal  instructions`);
  for (const name of new Set(rows.map((row) => row.name))) {
    const of = rows.filter((row) => row.name === name);
    const cells = VERSIONS.map((version) => {
      const row = of.find((each) => each.version === version || (each.version === 0 && version === 1));
      return row === undefined ? '' : `${row.ns.toFixed(1)}${row.missed ? '!' : ' '}`;
    });
    const { goal, instructions } = of.find(({ version }) => version >= 6) ?? of[0];
    const line = [
      name.padEnd(27),
      ...cells.map((cell) => cell.padStart(7)),
      (goal?.toFixed(1) ?? '').padStart(7),
      (instructions?.toFixed(0) ?? '').padStart(8),
    ];
    console.log(line.join('').trimEnd());
  }
  const missed = rows.filter((row) => row.missed).length;
  const judged = rows.filter(({ goal }) => goal !== undefined).length;
  console.log(
    `${judged - missed} of ${judged} within their goal${missed > 0 ? ', the others marked !' : ''}`,
  );
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
  console.log('\nProxyStep starts, in turns       median  p99.9  of a block   stalls over 10 us per million');
  for (const { place, beside, calls, faults, series } of results) {
    console.log(`rings on ${place}, beside ${beside} (${calls / 1e6} M each, ${faults} page faults)`);
    for (const { name, median, p999, typical_p999: typical, stalls: count } of series) {
      const cells = [median, p999].map((ns) => ns.toFixed(0).padStart(6));
      console.log(
        `  ${name.padEnd(30)}${cells.join(' ')} ${typical.toFixed(0).padStart(11)} ${count.toFixed(1).padStart(9)}`,
      );
    }
  }
}
