// What a job of four loopback ranks notices of being recorded, in the time its work takes and in the processor time of
// all its threads, the recorder's among them.
//
// Jobs run in blocks of four, recorded or not: 1 0 0 1, the next block 0 1 1 0. So a machine that gets slower or faster
// during a block hits both alike, and a block is one difference. Short jobs in many blocks, because what else a machine
// does changes from second to second. Start and end of a job do not count: the work begins when the recorder's thread has
// made its files. That the rings are copied every two seconds does not show in jobs this short.
//
// Beside the difference stands what to expect of it at least: how many callbacks there were, times what one costs in a hot
// loop. Where the difference is larger by more than its interval, callbacks cost more than there, or something else does.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const WORDS = '--ranks 4 --channels 2 --ops allreduce:256K --quiet --json';
const CORES = 4;
/** With fewer the intervals below are no approximation any more. */
const FEWEST_BLOCKS = 10;

/**
 * @param {object} options
 * @param {string} options.build
 * @param {number} options.seconds  begins no block after them
 * @param {number} options.settleMs  before the work of each job
 * @param {number} options.iterations  of it
 * @param {number} options.ringMb
 * @param {number} options.nsPerCallback  of the calls of steps, which are most
 */
export function measureJobs({ nsPerCallback, seconds, ...job }) {
  const end = Date.now() + seconds * 1000;
  const blocks = [];
  do {
    const order = blocks.length % 2 === 0 ? [true, false, false, true] : [false, true, true, false];
    const jobs = order.map((recorded) => ({ recorded, ...runJob({ recorded, ...job }) }));
    const recorded = jobs.find((job) => job.recorded);
    const bare = jobs.find((job) => !job.recorded);
    blocks.push({
      wall: shareOf(jobs, 'wallUs'),
      cpu: shareOf(jobs, 'cpuUs'),
      wallUs: bare.wallUs,
      callbacks: recorded.callbacks,
      expected: (recorded.callbacks * nsPerCallback) / 1000 / bare.cpuUs,
    });
  } while (Date.now() < end);
  return {
    blocks: blocks.length,
    seconds: middle(blocks.map(({ wallUs }) => wallUs)) / 1e6,
    wall: estimate(blocks.map(({ wall }) => wall)),
    cpu: estimate(blocks.map(({ cpu }) => cpu)),
    callbacks: middle(blocks.map(({ callbacks }) => callbacks)),
    nsPerCallback,
    expected: middle(blocks.map(({ expected }) => expected)),
  };
}

function runJob({ build, recorded, settleMs, iterations, ringMb }) {
  const folder = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'nccl-trace-bench-'));
  const env = recorded
    ? {
        NCCL_PROFILER_PLUGIN: path.join(build, 'libnccl-profiler-trace.so'),
        NCCL_TRACE_DIR: folder,
        NCCL_TRACE_RING_MB: String(ringMb),
      }
    : { NCCL_PROFILER_PLUGIN: 'none' };
  try {
    const words = [
      ...pinning(),
      path.join(build, 'nccl-trace-loopback'),
      ...WORDS.split(' '),
      ...['--settle', String(settleMs), '--iterations', String(iterations)],
    ];
    const out = execFileSync(words[0], words.slice(1), {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });
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
/** To the first cores that we may use, the same for all jobs; where there is no taskset, to none. */
function pinning() {
  if (pinned !== undefined) return pinned;
  const status = readFileSync('/proc/self/status', 'utf8');
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)[1];
  const cores = list.split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  const words = ['taskset', '-c', cores.slice(0, CORES).join(',')];
  try {
    execFileSync(words[0], [...words.slice(1), 'true']);
    pinned = words;
  } catch {
    pinned = [];
  }
  return pinned;
}

/** How much more the recorded jobs of a block took. */
function shareOf(jobs, field) {
  const sum = (recorded) =>
    jobs.filter((job) => job.recorded === recorded).reduce((total, job) => total + job[field], 0);
  return sum(true) / sum(false) - 1;
}

/**
 * The median of all means of two blocks (Hodges and Lehmann), and its 95 % interval by signed ranks. That blocks scatter
 * alike to both sides is sure here, because recorded and not recorded change places; how they scatter is not assumed.
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

export function printJobs({ blocks, seconds, wall, cpu, callbacks, nsPerCallback, expected }) {
  console.log(
    `\n4 loopback ranks, ${blocks} blocks of 4 jobs of ${seconds.toFixed(2)} s, recorded against not`,
  );
  for (const [name, { difference, interval }] of [
    ['time of the work', wall],
    ['processor time, all threads', cpu],
  ]) {
    const words = interval === undefined ? 'too few blocks for an interval' : judged(interval);
    console.log(`  ${name.padEnd(30)}${percent(difference).padStart(8)}   ${words}`);
  }
  const of = `of the processor time: ${callbacks} callbacks of ${nsPerCallback.toFixed(0)} ns`;
  console.log(`  ${'expected at least'.padEnd(30)}${percent(expected).padStart(8)}   ${of}`);
}

const GOAL = 0.01;

function judged([low, high]) {
  const verdict = high <= GOAL ? 'at most 1 %' : low > GOAL ? 'more than 1 %' : 'not resolved at 1 %';
  return `95 % interval ${percent(low)} to ${percent(high)}: ${verdict}`;
}

function percent(share) {
  return `${(100 * share).toFixed(2)} %`;
}
