// Makes docs/training-step.png: `node scripts/step-picture.mjs`. Needs a build with the loopback, and chromium. Four ranks play a training loop
// (sleeps stand for compute, NCCL is the loopback); a trace as PyTorch's profiler writes it is made up for rank 0, so that its kernels lie in these
// sleeps. The page of `report --with` is ours, and the picture is its drawing of a step.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const picture = path.join(root, 'docs/training-step.png');
const JOB =
  '--ranks 4 --channels 2 --iterations 6 --seed 5 --slow host:2:5ms ' +
  '--ops sleep:110ms,allreduce:384K,sleep:24ms,allreduce:384K,sleep:24ms,allreduce:384K,sleep:24ms,allreduce:384K,sync,sleep:16ms';
const PER_STEP = 4;
/** ns */
const [MS, LAUNCH, FORWARD, BUCKET, OPTIMIZER] = [1e6, 8e3, 80e6, 24e6, 14e6];

/** Pixels around the drawing. */
const EDGE = 14;

const work = mkdtempSync(path.join(tmpdir(), 'step-picture-'));
try {
  await makePicture();
} finally {
  rmSync(work, { recursive: true });
}

async function makePicture() {
  const run = path.join(work, 'run');
  mkdirSync(run);
  execFileSync(path.join(root, 'build/nccl-trace-loopback'), [...JOB.split(' '), '--quiet'], {
    env: {
      ...process.env,
      NCCL_PROFILER_PLUGIN: path.join(root, 'build/libnccl-profiler-trace.so'),
      NCCL_TRACE_DIR: run,
      NCCL_TRACE_RING_MB: '0.5',
    },
  });
  const works = JSON.parse(
    command('query', run, '--json', 'SELECT call_ns, end_ns FROM works WHERE rank = 0 ORDER BY call_ns'),
  );
  const { run: facts } = JSON.parse(command('report', run, '--json'));
  writeFileSync(path.join(work, 'rank0.json'), JSON.stringify(kineto(works, BigInt(facts.traceStart))));
  command('report', run, '-qo', path.join(work, 'page.html'), '--with', path.join(work, 'rank0.json'));
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1208, height: 900 }, colorScheme: 'light' });
  await page.goto(`file://${path.join(work, 'page.html')}`);
  const box = await page.locator('figure.step').boundingBox();
  const clip = { x: box.x - EDGE, y: box.y - EDGE, width: box.width + 2 * EDGE, height: box.height + EDGE };
  await page.screenshot({ path: picture, clip, fullPage: true });
  await browser.close();
  console.log(`${picture}: ${statSync(picture).size} bytes`);
}

function command(...args) {
  return execFileSync(process.execPath, [path.join(root, 'bin/nccl-trace.js'), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** What PyTorch's profiler would have recorded of DDP: nested calls on two threads, and kernels on two streams. */
function kineto(works, traceStart) {
  const traceEvents = [];
  const slice = (cat, name, tid, from, to) => {
    const pid = cat === 'kernel' ? 0 : 4711;
    traceEvents.push({ ph: 'X', cat, name, pid, tid, ts: from / 1000, dur: (to - from) / 1000 });
  };
  const [main, autograd, compute, nccl] = [4711, 4712, 7, 20];
  const names = { [main]: 'python3', [autograd]: 'pt_autograd_0' };
  for (const [tid, name] of Object.entries(names))
    traceEvents.push({ ph: 'M', name: 'thread_name', pid: 4711, tid: Number(tid), args: { name } });
  /** `count` times: calls within each other, of which the innermost launches a kernel. */
  const layers = (thread, from, to, count, calls) => {
    const each = (to - from) / count;
    for (let at = from, i = 0; i < count; i++, at += each) {
      calls.forEach((name, depth) => {
        slice('cpu_op', name, thread, at + depth * 100e3, at + (0.9 - 0.2 * depth) * each);
      });
      slice('kernel', 'sm90_gemm_bf16', compute, at + LAUNCH, at + each);
    }
  };
  // The first step also connects the ranks.
  for (let i = PER_STEP; i + PER_STEP <= works.length; i += PER_STEP) {
    const calls = works.slice(i, i + PER_STEP);
    const { call_ns: lastCall, end_ns: lastEnd } = calls.at(-1);
    const begin = calls[0].call_ns - FORWARD - BUCKET;
    const backward = begin + FORWARD;
    const end = lastEnd + OPTIMIZER;
    slice('user_annotation', `ProfilerStep#${i / PER_STEP}`, main, begin, end);
    slice('cpu_op', 'DistributedDataParallel.forward', main, begin, backward - MS);
    layers(main, begin + MS, backward - MS, 6, ['aten::linear', 'aten::addmm']);
    slice('cpu_op', 'loss.backward', main, backward, lastCall + MS);
    let [from, free] = [backward, 0];
    for (const { call_ns: to, end_ns: over } of calls) {
      layers(autograd, from, to, 2, ['autograd::engine::evaluate_function: AddmmBackward0', 'aten::mm']);
      slice('cpu_op', 'c10d::allreduce_', autograd, to - MS, to + LAUNCH);
      from = to + 2 * LAUNCH;
      const start = Math.max(free, to + LAUNCH);
      slice(
        'kernel',
        'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
        nccl,
        start,
        over,
      );
      free = over;
    }
    slice('cuda_runtime', 'cudaStreamSynchronize', main, lastCall + MS + LAUNCH, lastEnd);
    slice('cpu_op', 'Optimizer.step', main, lastEnd + LAUNCH, end - LAUNCH);
    slice('kernel', 'multi_tensor_apply', compute, lastEnd + 2 * LAUNCH, end - MS);
  }
  return {
    schemaVersion: 1,
    distributedInfo: { backend: 'nccl', rank: 0, world_size: 4 },
    baseTimeNanoseconds: Number(traceStart / 1000n) * 1000,
    traceEvents,
  };
}
