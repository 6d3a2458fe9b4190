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

/** The smallest rings there are, in MB: these runs are short. */
const SMALLEST = '0.0625';

/** The loopback's exit code for a hang that was asked for. */
const HUNG_AS_ASKED = 4;

const SAMPLES = {
  healthy: {
    shows:
      'A healthy run of 8 ranks: AllReduces on the world and on two groups of 4, send/receive with the neighbours.',
    args:
      '--ranks 8 --channels 2 --iterations 2 --groups tp=4 --seed 1 ' +
      '--ops allreduce:256K,allreduce@tp:64K*2,group{send+recv:64K}',
    ringMb: '0.125',
  },
  straggler: {
    shows:
      'Rank 2 of 4 enters every iteration 20 ms late. The other ranks are in recv wait, and rank 2 never waits.',
    args:
      '--ranks 4 --channels 2 --iterations 7 --seed 2 --slow host:2:20ms ' +
      '--ops allreduce:256K,allreduce:64K',
    ringMb: '0.125',
  },
  hang: {
    shows:
      'Rank 3 of 4 was killed (SIGKILL) in the middle of a collective. The others wait for it until they are killed, too. The ' +
      'file of rank 1 is missing, as if its node were lost.',
    args: '--ranks 4 --channels 2 --iterations 4 --seed 3 --fault kill:3@2:10 --hang-seconds 3 --ops allreduce:256K',
    ringMb: '0.125',
    hangs: true,
    remove: ['rank00001.bin'],
  },
  mismatch: {
    shows:
      'Rank 1 of 3 calls a ReduceScatter while the others call an AllReduce. All go on as long as their transfers happen to ' +
      'match. Then the job hangs until it is ended.',
    args:
      '--ranks 3 --channels 1 --proto simple --iterations 3 --seed 13 --fault other:1@1:reducescatter:128K ' +
      '--hang-seconds 3 --ops allreduce:128K',
    ringMb: SMALLEST,
    hangs: true,
  },
  wrapped: {
    shows:
      'A flight recorder that ran longer than its rings: only the last moments are left. Overwritten records are counted and ' +
      'drawn as gaps. If the start of an event was overwritten, the event is drawn from its first record that is left.',
    args: '--ranks 2 --channels 2 --iterations 60 --seed 4 --ops allreduce:256K',
    ringMb: '0.125',
  },
  'abi-v1': {
    shows:
      'NCCL 2.23 (interface v1). It reports codes instead of names, nothing about the communicator, and states of whole ' +
      'operations: one step event per buffer slot, no calls of the application, no kernels.',
    interface: 'v1, as in NCCL 2.23',
    args: '--abi 1 --ranks 2 --channels 1 --iterations 2 --seed 5 --ops allreduce:96K,group{send+recv:32K}',
    ringMb: SMALLEST,
  },
  'abi-v3': {
    shows:
      'NCCL 2.26 (interface v3). Kernels have no timestamps, so they are drawn from when the proxy noticed them.',
    interface: 'v3, as in NCCL 2.26',
    args: '--abi 3 --ranks 2 --channels 1 --iterations 2 --seed 6 --ops allreduce:128K,allgather:64K',
    ringMb: SMALLEST,
  },
  'abi-v4': {
    shows:
      'NCCL 2.27 (interface v4). Communicators have names and ids, and steps have sizes. It reports no calls of the ' +
      'application.',
    interface: 'v4, as in NCCL 2.27',
    args: '--abi 4 --ranks 2 --channels 1 --iterations 2 --seed 7 --ops allreduce:128K,reducescatter:64K',
    ringMb: SMALLEST,
  },
  'abi-v7': {
    shows:
      'NCCL 2.31 (interface v7): user tags, kernels that a separate thread watches, and a collective on symmetric memory with ' +
      'the phases of its kernel.',
    interface: 'v7, as in NCCL 2.31',
    args: '--abi 7 --user-tag 42 --ranks 2 --channels 1 --iterations 2 --seed 8 --symmetric --ops allreduce:128K,allgather:64K',
    ringMb: SMALLEST,
  },
  'copy-engine': {
    shows:
      'Collectives that the copy engines execute. NCCL reports when they were put into a stream, but not when they ran.',
    args: '--ranks 2 --channels 1 --iterations 2 --seed 9 --ce --ops allgather:128K',
    ringMb: SMALLEST,
  },
  graph: {
    shows:
      'A CUDA graph. It is captured once, which runs nothing, and replayed four times. Each replay has work of its own, whose ' +
      'parent is the captured call.',
    args: '--ranks 2 --channels 1 --iterations 1 --seed 10 --ops graph{allreduce:64K+allgather:64K}*4',
    ringMb: SMALLEST,
    events: 'default', // with KernelCh NCCL would give each replay a sequence number of its own
  },
  pxn: {
    shows:
      'PXN: the proxy of rank 2, another process, executes the sends of rank 0. The file of rank 2 holds them under the ' +
      'handles of rank 0. The arrows begin at rank 2, where the bytes left.',
    args: '--ranks 4 --channels 1 --iterations 2 --seed 11 --pxn 0:2 --ops allreduce:128K',
    ringMb: SMALLEST,
  },
  'stream-killed': {
    shows:
      'Stream mode with small rings: most of the run is in the chunks behind them. Rank 1 was killed (SIGKILL) in the middle ' +
      'of a collective. Everything that its callbacks had written is in the file.',
    args: '--ranks 2 --channels 1 --iterations 30 --seed 12 --fault kill:1@28:6 --hang-seconds 2 --ops allreduce:256K',
    ringMb: SMALLEST,
    mode: 'stream',
    hangs: true,
  },
  'slow-link': {
    shows:
      'What rank 1 of 3 sends to rank 2 leaves at 8 MB/s. Its report names the link, and says that the NIC would look the same.',
    args: '--ranks 3 --channels 1 --iterations 10 --seed 31 --ops allreduce:128K --slow link:1:8',
    ringMb: SMALLEST,
  },
  'thin-channel': {
    shows: 'The same on channel 0 of 2 alone: its report names the channel.',
    args: '--ranks 3 --channels 2 --iterations 6 --seed 32 --ops allreduce:256K --slow channel:1:8',
    ringMb: SMALLEST,
  },
  'slow-work': {
    shows:
      'Each slice takes the GPU of rank 1 of 3 longer, by 3 ms. Its kernels begin in time; its report says that what arrives waits long for its GPU.',
    args: '--ranks 3 --channels 1 --iterations 12 --seed 33 --ops allreduce:256K --slow slice:1:3ms',
    ringMb: SMALLEST,
  },
  'slow-gpu': {
    shows:
      'The GPU of rank 1 of 3 begins each kernel 20 ms late in its stream, as if its compute took longer. Its calls come in ' +
      'time.',
    args: '--ranks 3 --channels 1 --iterations 14 --seed 14 --slow gpu:1:20ms --ops allreduce:64K',
    ringMb: SMALLEST,
  },
  'startup-hang': {
    shows:
      'NCCL makes connections at first use, as by default. Rank 2 of 3 never calls its first AllReduce. Ranks 0 and 1 are ' +
      'inside their calls for 35 s, and no Coll begins.',
    args:
      '--ranks 3 --channels 1 --iterations 2 --seed 15 --connect-at-use --fault skip:2@0 --hang-seconds 35 ' +
      '--ops allreduce:64K',
    ringMb: SMALLEST,
    hangs: true,
  },
  'dead-node': {
    shows:
      'Two nodes of two ranks. Node 1 dies in the middle of a collective, and its rings, which were in its memory, are lost ' +
      'with it. The files of ranks 2 and 3 end with the last copy of these rings. The others wait for 35 s.',
    args:
      '--ranks 4 --node-size 2 --channels 1 --iterations 8 --seed 16 --fault node:2@6:in --node-memory NCCL_TRACE_RING_DIR=%MEMORY% ' +
      '--hang-seconds 35 --ops allreduce:64K,sleep:20ms',
    ringMb: SMALLEST,
    hangs: true,
  },
};

function record(name, sample) {
  const { args, ringMb, mode = 'flight', events = 'all', hangs = false, remove = [] } = sample;
  const recording = mkdtempSync(path.join(tmpdir(), 'nccl-trace-sample-'));
  const env = {
    PATH: process.env.PATH,
    NCCL_PROFILER_PLUGIN: plugin,
    NCCL_TRACE_DIR: recording,
    // In the file: what other tests do on this machine must not matter.
    NCCL_TRACE_RING_DIR: 'none',
    NCCL_TRACE_EVENTS: events,
    NCCL_TRACE_RING_MB: ringMb,
    NCCL_TRACE_MODE: mode,
  };
  const memory = mkdtempSync(path.join(tmpdir(), 'nccl-trace-memory-'));
  try {
    const given = args.replace('%MEMORY%', memory).split(' ');
    execFileSync(loopback, [...given, '--quiet'], { env, stdio: 'inherit' });
    if (hangs) throw new Error(`${name}: it should hang, but did not`);
  } catch (error) {
    if (!hangs || error.status !== HUNG_AS_ASKED) throw error;
  } finally {
    rmSync(memory, { recursive: true });
  }
  const folder = path.join(root, 'samples', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(recording)) {
    if (!remove.includes(file)) renameAcross(path.join(recording, file), path.join(folder, file));
  }
  rmSync(recording, { recursive: true });
  writeFileSync(path.join(folder, 'README.md'), provenance(name, sample));
}

function renameAcross(from, to) {
  try {
    renameSync(from, to);
  } catch {
    execFileSync('mv', [from, to]);
  }
}

function provenance(
  name,
  { shows, args, ringMb, mode, events = 'all', remove = [], interface: abi = 'v6, as in NCCL 2.30' },
) {
  const removed = remove.length === 0 ? '' : `\nRemoved afterwards: ${remove.join(', ')}.\n`;
  return `# ${name}

${shows}

Recorded with the real plugin by the loopback, which plays NCCL without a GPU. The times are those of a small shared machine.

\`\`\`
${mode === undefined ? '' : `NCCL_TRACE_MODE=${mode} `}NCCL_TRACE_EVENTS=${events} NCCL_TRACE_RING_MB=${ringMb} nccl-trace-loopback ${args.replace('%MEMORY%', '/tmp/memory')}
\`\`\`
${removed}
| | |
|---|---|
| recorded | ${new Date().toISOString().slice(0, 10)}, by \`node scripts/record-samples.mjs ${name}\` |
| interface | NCCL profiler ${abi} |
| machine | ${cpus().length} × ${cpus()[0].model.trim()}, Linux ${release().split('-')[0]} |
`;
}

const wanted = process.argv.slice(2);
for (const [name, sample] of Object.entries(SAMPLES)) {
  if (wanted.length === 0 || wanted.includes(name)) record(name, sample);
}
