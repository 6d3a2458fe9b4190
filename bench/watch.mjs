// What `watch` costs beside a job: `npm run bench:watch [-- --ranks 8] [--seconds 120] [--warm 60] [--command watch|metrics] [--mode flight|stream]`.
//
// The job records with the default settings, so its rings are full after some time; the warm-up is for that. Printed are the rate at which it
// records, the CPU time of the watcher and its looks as a share of a core per rank, and the memory that is theirs alone, between two looks
// and during one. The records of a look do not depend on the rate: the rings are full in any case, and of a stream file a look reads only the
// newest lap of each ring. `inspect` of all records is printed for comparison.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { importTypeScript } from './tools.mjs';

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '120' },
    warm: { type: 'string', default: '60' },
    ops: { type: 'string', default: 'allreduce:4M,allreduce:64K*4' },
    every: { type: 'string', default: '5' },
    command: { type: 'string', default: 'watch' },
    mode: { type: 'string', default: 'flight' },
  },
});
const [ranks, seconds, warm] = [values.ranks, values.seconds, values.warm].map(Number);
const root = fileURLToPath(new URL('..', import.meta.url));
const { readPulse } = await importTypeScript('src/rankfile/pulse.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
const run = path.join(folder, 'run');
const time = String(warm + seconds + 60);
process.stderr.write(`about ${warm + seconds} s\n`);
const job = spawn(
  path.join(root, 'build/nccl-trace-loopback'),
  [
    '--ranks',
    String(ranks),
    '--channels',
    '4',
    '--iterations',
    '1000000',
    '--ops',
    values.ops,
    '--timeout',
    time,
    '--quiet',
  ],
  {
    env: {
      PATH: process.env.PATH,
      NCCL_PROFILER_PLUGIN: path.join(root, 'build/libnccl-profiler-trace.so'),
      NCCL_TRACE_DIR: run,
      NCCL_TRACE_MODE: values.mode,
    },
    stdio: 'ignore',
  },
);
try {
  await pause(warm * 1000);
  const more = { watch: ['--act-on', 'none'], metrics: ['--textfile', path.join(folder, 'metrics.prom')] };
  const args = [values.command, run, '--every', values.every, ...more[values.command]];
  const watch = spawn(process.execPath, [path.join(root, 'bin/nccl-trace.js'), ...args], {
    stdio: 'inherit',
  });
  const [slotsBefore, began] = [slots(), performance.now()];
  const peak = { between: 0, during: 0, resident: 0 };
  // A look begins when its process does. Whole rounds are counted, from the begin of a look to that of a later one.
  const looks = new Map();
  while (performance.now() - began < seconds * 1000) {
    const children = childrenOf(watch.pid);
    for (const child of children)
      if (!looks.has(child)) looks.set(child, { at: performance.now(), cpu: cpuOf(watch.pid) });
    const own = [watch.pid, ...children].map(memoryOf);
    const sum = (what) => own.reduce((total, one) => total + one[what], 0);
    const when = children.length > 0 ? 'during' : 'between';
    peak[when] = Math.max(peak[when], sum('own'));
    peak.resident = Math.max(peak.resident, ...own.map(({ resident }) => resident));
    await pause(20);
  }
  const wall = (performance.now() - began) / 1000;
  const [first, last] = [[...looks.values()][0], [...looks.values()].at(-1)];
  if (looks.size < 2) throw new Error(`${looks.size} looks in ${seconds} s: take longer, by --seconds`);
  const cpu = last.cpu - first.cpu;
  const rounds = (last.at - first.at) / 1000;
  const rate = (slots() - slotsBefore) / wall / ranks;
  watch.kill('SIGTERM');
  const whole = command(['inspect', run]).cpu;
  const mebibytes = (kib) => (kib / 1024).toFixed(0);
  console.log(
    `${ranks} ranks, ${rate.toFixed(0)} slots/s each, ${values.mode} mode: ${values.command} takes ${((100 * cpu) / rounds / ranks).toFixed(2)} % of a core per rank ` +
      `(${(cpu / (looks.size - 1)).toFixed(1)} s per look, one in ${(rounds / (looks.size - 1)).toFixed(0)} s); its own memory ${mebibytes(peak.between)} MiB between looks, ` +
      `${mebibytes(peak.during)} MiB during one; the larger of its processes has ${mebibytes(peak.resident)} MiB resident. ` +
      `One inspect of all that was recorded: ${whole.toFixed(1)} s`,
  );
} finally {
  job.kill('SIGTERM');
  rmSync(folder, { recursive: true });
}

function slots() {
  const files = readdirSync(run).filter((name) => name.endsWith('.bin'));
  return files.reduce((sum, name) => sum + readPulse(path.join(run, name)).slots, 0);
}

/** Seconds, with those of the looks that have ended. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

function childrenOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** KiB. */
function memoryOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const field = (name) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return { own: field('Private_Clean') + field('Private_Dirty'), resident: field('Rss') };
  } catch {
    return { own: 0, resident: 0 }; // it has just ended
  }
}
