// The cost of recording for a job of four loopback ranks: the time of its work, and the CPU time of all its threads, including the
// recorder's.
//
// A job runs with the recorder, with a plugin that does nothing, or without a plugin. This separates NCCL's own cost from the
// recorder's. A block is six jobs, each kind twice, in one order and then in reverse, so that a machine that gets slower or faster
// affects all kinds alike. A block gives one difference of each pair. Start and end of a job do not count: the work begins when
// the recorder's thread has made its files.
//
// The output also has the least to expect: the number of callbacks times their cost in a hot loop. A callback with cold caches costs
// more (cold_bench), and a job on all cores pays for both in full.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** On all cores: the threads of all ranks poll, and yield the core when there is nothing to do. */
const WORKLOADS = [
  { name: 'a training-like loop', args: [], iterations: 5 },
  {
    name: 'all-reduces of 256 KiB and nothing else',
    args: ['--ops', 'allreduce:256K'],
    iterations: 160,
  },
];
const WORDS = ['--ranks', '4', '--channels', '2', '--quiet', '--json'];
const KINDS = ['recorded', 'told', 'bare'];
const PAIRS = [
  ['recorded', 'bare'],
  ['told', 'bare'],
  ['recorded', 'told'],
];
const CORES = 4;
/** With fewer blocks the intervals below are not valid. */
const FEWEST_BLOCKS = 10;

/**
 * @param {object} options
 * @param {string} options.build
 * @param {number} options.seconds  for each workload; begins no block after them
 * @param {number} options.settleMs  before the work of each job
 * @param {number} [options.most]  iterations of a job
 * @param {number} options.ringMb
 * @param {number} options.nsPerCallback  of the calls of steps, which are most
 */
export function measureJobs({ seconds, nsPerCallback, most = Infinity, ...job }) {
  return WORKLOADS.map(({ name, args, iterations }) => {
    const all = [...args, '--iterations', String(Math.min(iterations, most))];
    const end = Date.now() + seconds * 1000;
    const blocks = [];
    do {
      const first = turned(KINDS, blocks.length);
      const order = [...first, ...first.toReversed()];
      blocks.push(order.map((kind) => ({ kind, ...runJob({ kind, args: all, ...job }) })));
    } while (Date.now() < end);
    const bare = blocks.map((jobs) => jobs.find(({ kind }) => kind === 'bare'));
    const recorded = blocks.map((jobs) => jobs.find(({ kind }) => kind === 'recorded'));
    return {
      name,
      blocks: blocks.length,
      seconds: middle(bare.map(({ wallUs }) => wallUs)) / 1e6,
      pairs: PAIRS.map(([more, less]) => ({
        more,
        less,
        wall: estimate(blocks.map((jobs) => shareOf(jobs, more, less, 'wallUs'))),
        cpu: estimate(blocks.map((jobs) => shareOf(jobs, more, less, 'cpuUs'))),
      })),
      callbacks: middle(recorded.map(({ callbacks }) => callbacks)),
      nsPerCallback,
      expected: middle(
        recorded.map(({ callbacks }, i) => (callbacks * nsPerCallback) / 1000 / bare[i].cpuUs),
      ),
    };
  });
}

function turned(list, by) {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

function runJob({ build, kind, args, settleMs, ringMb }) {
  const folder = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'nccl-trace-bench-'));
  const env = {
    recorded: {
      NCCL_PROFILER_PLUGIN: path.join(build, 'libnccl-profiler-trace.so'),
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_RING_MB: String(ringMb),
    },
    told: { NCCL_PROFILER_PLUGIN: path.join(build, 'libnccl-profiler-stub.so') },
    bare: { NCCL_PROFILER_PLUGIN: 'none' },
  }[kind];
  try {
    const [command, ...rest] = [
      ...pinning(),
      path.join(build, 'nccl-trace-loopback'),
      ...WORDS,
      ...args,
      ...['--settle', String(settleMs)],
    ];
    const out = execFileSync(command, rest, { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' });
    const { perRank, counts } = JSON.parse(out);
    return {
      wallUs: Math.max(...perRank.map(({ workUs }) => workUs)),
      callbacks: counts.callbacks,
      cpuUs: perRank.reduce((sum, { workCpuUs }) => sum + workCpuUs, 0),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let pinned;
/** Pins all jobs to the same first cores we may use. Without taskset, pins nothing. */
function pinning() {
  if (pinned !== undefined) return pinned;
  const status = readFileSync('/proc/self/status', 'utf8');
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)[1];
  const cores = list.split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  const args = ['taskset', '-c', cores.slice(0, CORES).join(',')];
  try {
    execFileSync(args[0], [...args.slice(1), 'true']);
    pinned = args;
  } catch {
    pinned = [];
  }
  return pinned;
}

/** How much more the jobs of one kind took than those of another. */
function shareOf(jobs, more, less, field) {
  const sum = (wanted) =>
    jobs.filter(({ kind }) => kind === wanted).reduce((total, job) => total + job[field], 0);
  return sum(more) / sum(less) - 1;
}

/**
 * The median of all means of two blocks (Hodges and Lehmann), and its 95 % interval by signed ranks. Blocks scatter symmetrically,
 * because the kinds change places. The shape of the scatter is not assumed.
 */
function estimate(shares) {
  const n = shares.length;
  const means = [];
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) means.push((shares[i] + shares[j]) / 2);
  }
  means.sort((a, b) => a - b);
  const rank = Math.floor((n * (n + 1)) / 4 - 1.96 * Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24));
  const interval = n < FEWEST_BLOCKS || rank < 1 ? undefined : [means[rank - 1], means[means.length - rank]];
  return { difference: middle(means), interval };
}

function middle(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

export function printJobs(workloads) {
  for (const { name, blocks, seconds, pairs, callbacks, nsPerCallback, expected } of workloads) {
    console.log(`\n4 loopback ranks, ${name}: ${blocks} blocks of 6 jobs of ${seconds.toFixed(2)} s`);
    for (const { more, less, wall, cpu } of pairs) {
      console.log(`  ${more} against ${less}`);
      printEstimate('time of the work', wall);
      printEstimate('CPU time, all threads', cpu);
    }
    const of = `of the CPU time: ${callbacks} callbacks of ${nsPerCallback.toFixed(0)} ns`;
    console.log(`  ${'expected at least'.padEnd(32)}${percent(expected).padStart(8)}   ${of}`);
  }
}

function printEstimate(name, { difference, interval }) {
  const text = interval === undefined ? 'too few blocks for an interval' : judged(interval);
  console.log(`    ${name.padEnd(30)}${percent(difference).padStart(8)}   ${text}`);
}

const GOAL = 0.01;

function judged([low, high]) {
  const verdict = high <= GOAL ? 'at most 1 %' : low > GOAL ? 'more than 1 %' : 'not resolved at 1 %';
  return `95 % interval ${percent(low)} to ${percent(high)}: ${verdict}`;
}

function percent(share) {
  return `${(100 * share).toFixed(2)} %`;
}
