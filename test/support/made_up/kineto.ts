/**
 * Traces as PyTorch's profiler writes them, of a rank whose collectives are known: a call on the CPU, its launch, the kernel of NCCL on the GPU,
 * and beside them operators, a counter and a thread with a negative id. In each dialect.
 */

import { gzipSync } from 'node:zlib';
import type { TraceView, ViewSlice } from '../traces/trace_view.js';

export interface KinetoOptions {
  readonly rank: number;
  readonly worldSize: number;
  /** 'base': µs with three decimals from `baseTimeNanoseconds`; 'whole' and 'decimals': since 1970. */
  readonly dialect?: 'base' | 'whole' | 'decimals';
  /** It does not say its rank. */
  readonly isNameless?: boolean;
  /** ns: how much the host's clock is ahead. */
  readonly shift?: bigint;
  /** The kernels of another job. */
  readonly func?: string;
  readonly host?: string;
  /** How its operations are numbered: arguments of the i-th kernel or call. */
  readonly numbered?: (i: number, work: ViewSlice) => { readonly Seq?: number; readonly 'Comms Id'?: string };
  readonly numberedOn?: 'kernel' | 'call';
  /** Training steps of equal length; a kernel covers the first half of each. */
  readonly steps?: number;
}

/** In this trace, which has one rank's collectives in several lanes. */
export const collectivesOf = ({ slices }: TraceView, rank: number): ViewSlice[] =>
  slices
    .filter(({ track, args }) => track.process?.pid === 1_000_000 + rank && args.seq !== undefined)
    .filter(({ track, dur }) => track.path.includes('NCCL') && dur > 0n)
    .sort((a, b) => Number(a.ts + a.dur - b.ts - b.dur));

const BASE = 1_711_964_646_000_000_000n;

export function kinetoText(works: readonly ViewSlice[], options: KinetoOptions): string {
  const { rank, worldSize, dialect = 'base', shift = 0n, numbered, numberedOn = 'kernel' } = options;
  const base = dialect === 'base' ? BASE : 0n;
  const us = (ns: bigint): string => {
    const at = ns + shift - base;
    if (dialect === 'whole') return String(at / 1000n);
    return `${at / 1000n}.${String(at % 1000n).padStart(3, '0')}`;
  };
  const event = (fields: string, ts: bigint, dur: bigint | null, args: object | null): string =>
    `{${fields}, "ts": ${us(ts)}${dur === null ? '' : `, "dur": ${dialect === 'whole' ? dur / 1000n : Number(dur) / 1000}`}${args ? `, "args": ${JSON.stringify(args)}` : ''}}`;
  const cpu = '"pid": 4711, "tid": 4711';
  const gpu = '"pid": 0, "tid": 20';
  const first = works[0]!.ts;
  const last = works.at(-1)!.ts + works.at(-1)!.dur;
  let earliest = 0n;
  const events = works.flatMap(({ name, ts, dur, args }, i) => {
    const func = options.func ?? name ?? '';
    const id = { 'External id': i + 1 };
    const numbers = numbered ? { 'Process Group Name': '0', ...numbered(i, works[i]!) } : {};
    // All but reductions run as bytes, whatever the tensor's type.
    const type = func === 'AllReduce' ? 'f32' : 'int8_t';
    const kernel = `ncclDevKernel_${func}_Sum_${type}_RING_LL(ncclDevKernelArgsStorage<4096ul>)`;
    // A stream runs one kernel after the other.
    const start = earliest > ts + dur / 2n ? earliest : ts + dur / 2n;
    earliest = ts + dur;
    return [
      event(`"ph": "X", "cat": "cpu_op", "name": "record_param_comms", ${cpu}`, ts, 4000n, {
        ...id,
        'In msg nelems': Number(args.count),
        ...(numberedOn === 'call' ? numbers : {}),
      }),
      event(`"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", ${cpu}`, ts + 1000n, 2000n, {
        correlation: i,
      }),
      event(`"ph": "s", "id": ${i}, "cat": "ac2g", "name": "ac2g", ${cpu}`, ts + 1000n, null, null),
      event(`"ph": "X", "cat": "kernel", "name": "${kernel}", ${gpu}`, start, ts + dur - start, {
        ...id,
        grid: [8, 1, 1],
        ...(numberedOn === 'kernel' ? numbers : {}),
      }),
      event(`"ph": "f", "id": ${i}, "cat": "ac2g", "name": "ac2g", "bp": "e", ${gpu}`, start, null, null),
    ];
  });
  const named = (name: string, where: string, args: object): string =>
    event(`"ph": "M", "name": "${name}", ${where}`, first, null, args);
  const more = [
    named('process_labels', '"pid": 4711, "tid": 0', { labels: 'CPU' }),
    named('process_labels', '"pid": 0, "tid": 0', { labels: 'GPU 0' }),
    named('process_sort_index', '"pid": 0, "tid": 0', { sort_index: 16777216 }),
    named('thread_name', gpu, { name: 'stream 20 ' }),
    named('thread_name', cpu, { name: 'python3 (main)' }),
    event('"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4711, "tid": -5', first, 5000n, {
      big: 0,
      'Input type': ['float', ''],
    }).replace('"big":0', '"big":18446744073709551615'),
    // They overlap, so they need two lanes.
    event('"ph": "X", "cat": "gpu_memcpy", "name": "first", "pid": 0, "tid": 7', first, 4000n, null),
    event('"ph": "X", "cat": "gpu_memcpy", "name": "second", "pid": 0, "tid": 7', first + 2000n, 4000n, null),
    event('"ph": "C", "name": "memory", "pid": 4711', first, null, { allocated: 12.5 }),
    event('"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": ""', last, null, null),
    event('"ph": "b", "cat": "x", "name": "asynchronous", "pid": 1, "tid": 1', first, null, null),
  ];
  const step = (last - first) / BigInt(options.steps ?? 1);
  const steps = Array.from({ length: options.steps ?? 0 }, (_, i) => first + BigInt(i) * step);
  const training = steps.flatMap((at, i) => [
    event(`"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#${i}", ${cpu}`, at, step, null),
    event('"ph": "X", "cat": "kernel", "name": "sm90_gemm", "pid": 0, "tid": 9', at, step / 2n, null),
  ]);
  const info = options.isNameless
    ? ''
    : `"distributedInfo": {"backend": "nccl", "rank": ${rank}, "world_size": ${worldSize}},`;
  const host = options.host === undefined ? '' : `"host_name": "${options.host}",`;
  // As real files are: not in order of time.
  const lines = [
    ...events.filter((_, i) => i % 5 >= 3),
    ...events.filter((_, i) => i % 5 < 3),
    ...more,
    ...training,
  ];
  const end =
    base === 0n ? '"displayTimeUnit": "ms"' : `"displayTimeUnit": "ms", "baseTimeNanoseconds": ${base}`;
  return `{"schemaVersion": 1, ${info} ${host} "traceEvents": [\n${lines.join(',\n')}\n], ${end}}`;
}

/** Packed in two members, as programs that append to a file do. */
export function inTwoMembers(text: string): Buffer {
  const bytes = Buffer.from(text);
  const half = Math.floor(bytes.length / 2);
  return Buffer.concat([gzipSync(bytes.subarray(0, half)), gzipSync(bytes.subarray(half))]);
}
