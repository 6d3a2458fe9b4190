// Records samples/ anew with the loopback: `node scripts/record-samples.mjs [name...]`. Each sample gets a README.md with its
// provenance. Recorded runs differ in their times, so goldens made of them change too: do it only when the format does.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const loopback = path.join(root, 'build/nccl-trace-loopback');
const plugin = path.join(root, 'build/libnccl-profiler-trace.so');

/** The loopback's exit code for a hang that was asked for. */
const HUNG_AS_ASKED = 4;

const SAMPLES = {
  healthy: {
    shows:
      'A healthy run of 8 ranks: AllReduces on the world and on two groups of 4, send/receive with the neighbours.',
    words:
      '--ranks 8 --channels 2 --iterations 2 --groups tp=4 --seed 1 ' +
      '--ops allreduce:256K,allreduce@tp:64K*2,group{send+recv:64K}',
    ringMb: '0.25',
  },
  straggler: {
    shows: 'Rank 2 of 4 enters every iteration 20 ms late: the others sit in recv wait, rank 2 never waits.',
    words:
      '--ranks 4 --channels 2 --iterations 3 --seed 2 --slow-rank 2 --slow-us 20000 ' +
      '--ops allreduce:256K,allreduce:64K',
    ringMb: '0.25',
  },
  hang: {
    shows:
      'Rank 3 of 4 was killed (SIGKILL) in mid collective and the others wait for it until they are killed too. The ' +
      'file of rank 1 is missing, as if its node were lost.',
    words:
      '--ranks 4 --channels 2 --iterations 4 --seed 3 --kill-rank 3 --kill-at 2:10 --hang-seconds 3 --ops allreduce:256K',
    ringMb: '0.25',
    hangs: true,
    remove: ['rank00001.bin'],
  },
  wrapped: {
    shows:
      'A flight recorder that ran longer than its rings: only the last moments are left. What was overwritten is counted ' +
      'and drawn; work whose start was overwritten is there from where its records begin.',
    words: '--ranks 2 --channels 2 --iterations 60 --seed 4 --ops allreduce:256K',
    ringMb: '0.125',
  },
};

function record(name, { shows, words, ringMb, hangs = false, remove = [] }) {
  const recording = mkdtempSync(path.join(tmpdir(), 'nccl-trace-sample-'));
  const env = {
    PATH: process.env.PATH,
    NCCL_PROFILER_PLUGIN: plugin,
    NCCL_TRACE_DIR: recording,
    NCCL_TRACE_EVENTS: 'all',
    NCCL_TRACE_RING_MB: ringMb,
  };
  try {
    execFileSync(loopback, [...words.split(' '), '--quiet'], { env, stdio: 'inherit' });
    if (hangs) throw new Error(`${name}: it was to hang, and did not`);
  } catch (error) {
    if (!hangs || error.status !== HUNG_AS_ASKED) throw error;
  }
  const folder = path.join(root, 'samples', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(recording)) {
    if (!remove.includes(file)) renameAcross(path.join(recording, file), path.join(folder, file));
  }
  rmSync(recording, { recursive: true });
  writeFileSync(path.join(folder, 'README.md'), provenance(name, shows, words, ringMb, remove));
}

function renameAcross(from, to) {
  try {
    renameSync(from, to);
  } catch {
    execFileSync('mv', [from, to]);
  }
}

function provenance(name, shows, words, ringMb, remove) {
  const removed = remove.length === 0 ? '' : `\nTaken away afterwards: ${remove.join(', ')}.`;
  return `# ${name}

${shows}

Recorded with the real plugin by the loopback, which plays NCCL without a GPU; times are those of a small shared machine.

\`\`\`
NCCL_TRACE_EVENTS=all NCCL_TRACE_RING_MB=${ringMb} nccl-trace-loopback ${words}
\`\`\`
${removed}
| | |
|---|---|
| recorded | ${new Date().toISOString().slice(0, 10)}, by \`node scripts/record-samples.mjs ${name}\` |
| interface | NCCL profiler v6 |
| machine | ${cpus().length} × ${cpus()[0].model.trim()}, Linux ${release().split('-')[0]} |
`;
}

const wanted = process.argv.slice(2);
for (const [name, sample] of Object.entries(SAMPLES)) {
  if (wanted.length === 0 || wanted.includes(name)) record(name, sample);
}
