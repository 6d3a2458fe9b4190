/** `merge --with`: traces of PyTorch's profiler beside the ranks, in every dialect, and the files that may not share the axis. */

import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DrawnReport } from '../../src/foreign/beside/beside.js';
import type { RefusedReport } from '../../src/foreign/beside/parts.js';
import { merge, type MergeOptions } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { collectivesOf, inTwoMembers, kinetoText, type KinetoOptions } from '../support/made_up/kineto.js';
import { keptJob } from '../support/jobs/kept_job.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import {
  countsOf,
  functionOf,
  viewTrace,
  type TraceView,
  type ViewFlow,
  type ViewSlice,
} from '../support/traces/trace_view.js';

const RUN = 'samples/wrapped';
let folder: string;
let remove: () => void;
let works: readonly ViewSlice[];
let plain: TraceView;
let plainBytes: Buffer;
/** With the file of rank 0 as `text` makes it. */
let base: Drawn;
let baseBytes: Buffer;

beforeAll(async () => {
  ({ folder, remove } = temporaryFolder());
  await mergeHere();
  plainBytes = bytes();
  plain = view();
  works = collectivesOf(plain, 0);
  base = await drawn();
  baseBytes = bytes();
});
afterAll(() => {
  remove();
});

const mergeHere = (options: Partial<MergeOptions> = {}): Promise<MergeReport> =>
  merge({ inputs: [RUN], output: join(folder, 'out.pftrace'), force: true, jobs: 1, ...options });

const bytes = (): Buffer => readFileSync(join(folder, 'out.pftrace'));
const view = (): TraceView => viewTrace(bytes(), { emptySlices: 'fine' });

const text = (options: Partial<KinetoOptions> = {}): string =>
  kinetoText(works, { rank: 0, worldSize: 2, ...options });

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function mergeWith(path: string, rank: number | null = null) {
  const report = await mergeHere({ with: [{ path, rank }] });
  return { report, seen: view() };
}

interface Drawn {
  readonly report: MergeReport;
  readonly seen: TraceView;
  readonly own: DrawnReport;
}

async function drawn(options: Partial<KinetoOptions> = {}): Promise<Drawn> {
  const { report, seen } = await mergeWith(write('rank0.json', text(options)));
  return { report, seen, own: report.foreign[0] as DrawnReport };
}

const onTrack = ({ slices }: TraceView, ...path: string[]): ViewSlice[] =>
  slices.filter(({ track }) => track.path.slice(1).join(' > ') === path.join(' > '));
const kernelsIn = (seen: TraceView): ViewSlice[] => onTrack(seen, 'PyTorch', 'GPU 0 stream 20');

describe('a trace of PyTorch', () => {
  it('is a group beside NCCL in its rank: nothing is lost, slices nest, the summary counts it', () => {
    const { report, seen, own } = base;
    expect(seen.problems).toEqual([]);
    expect(report.trace).toEqual(countsOf(seen));
    const pytorch = seen.tracks.filter(({ path }) => path[1] === 'PyTorch');
    expect(new Set(pytorch.map(({ process }) => process?.pid))).toEqual(new Set([1_000_000]));
    expect(pytorch.map(({ path }) => path.slice(2).join())).toEqual([
      '',
      'python3 (main)',
      'thread 4294967291',
      'unnamed',
      'GPU 0 stream 20',
      'GPU 0 thread 7',
      'GPU 0 thread 7 ·2',
      'memory allocated',
    ]);
    expect(kernelsIn(seen)).toHaveLength(works.length);
    expect(own).toMatchObject({
      rank: 0,
      slices: 3 * works.length + 4,
      instants: 1,
      counterSamples: 1,
      leftOut: { 'events of phase b': 1 },
    });
    expect(mergeReportText(report)).toContain(
      `${works.length} of ${works.length} NCCL kernels are our collectives`,
    );
    const mm = seen.slices.find(({ name }) => name === 'aten::mm');
    expect(mm?.args).toEqual({ cat: 'cpu_op', big: 2n ** 64n - 1n, 'Input type': '["float",""]' });
    expect(seen.counters.find(({ track }) => track.name === 'memory allocated')?.value).toBe(12.5);
    expect(onTrack(seen, 'PyTorch', 'GPU 0 thread 7 ·2').map(({ name }) => name)).toEqual(['second']);
  });

  it('lies where the host stamped it, to the nanosecond, in both dialects that have them', async () => {
    const [decimals, whole] = [await drawn({ dialect: 'decimals' }), await drawn({ dialect: 'whole' })];
    const times = ({ seen }: Drawn): bigint[] => kernelsIn(seen).map(({ ts }) => ts);
    expect(times(decimals)).toEqual(times(base));
    for (const [i, ts] of times(whole).entries()) {
      const off = times(base)[i]! - ts;
      expect(off >= 0n && off < 1000n).toBe(true);
    }
    // Its wall clock was sampled beside the counter, so it is on the run's axis as exactly as that.
    expect(Math.abs(base.own.kernels.residual!)).toBeLessThan(200_000);
    expect(base.own.kernels.corrected).toBe(0);
  });

  it('has arrows from the call to our collective and from there to the kernel, and its own', () => {
    const { seen } = base;
    const names = seen.flows.map(({ from, to }: ViewFlow) => `${from.name} > ${to.name?.split('_')[0]}`);
    const count = (name: string): number => names.filter((one) => one === name).length;
    expect(count('cudaLaunchKernel > ncclDevKernel')).toBe(works.length);
    const joined = new Set<ViewSlice>();
    for (const { from, to } of seen.flows) {
      const [ours, theirs] = from.args.seq === undefined ? [to, from] : [from, to];
      if (theirs.track.path[1] === 'PyTorch' && ours.args.seq !== undefined) joined.add(ours);
    }
    expect(joined.size).toBe(works.length);
  });

  it('of a host whose clock is 3 ms ahead is moved back, and the report says so', async () => {
    const { seen, own, report } = await drawn({ shift: 3_000_000n });
    const off = own.kernels.corrected - 3_000_000 - base.own.kernels.residual!;
    expect(Math.abs(off)).toBeLessThan(50_000);
    const moved = kernelsIn(seen).map(({ ts }, i) => Number(ts - kernelsIn(base.seen)[i]!.ts));
    expect(Math.max(...moved.map(Math.abs))).toBeLessThan(200_000);
    expect(mergeReportText(report)).toContain('3.0 ms after them');
  });

  it('with times that PyTorch did not know, also first in the file, loses only these', async () => {
    const lost =
      '{"ph": "X", "cat": "kernel", "name": "lost", "pid": 0, "tid": 20, "ts": 0.000, "dur": 0.000}';
    const { report } = await mergeWith(
      write('rank0.json', text().replace('"traceEvents": [', `"traceEvents": [${lost},`)),
    );
    const own = report.foreign[0] as DrawnReport;
    expect(own.leftOut).toEqual({ ...base.own.leftOut, 'events without a time': 1 });
    expect({ ...own, leftOut: null }).toEqual({ ...base.own, leftOut: null });
  });

  it('packed by gzip, in one member or two, is the same', async () => {
    for (const packed of [gzipSync(text()), inTwoMembers(text())]) {
      await mergeWith(write('rank0.json', packed));
      expect(bytes().equals(baseBytes)).toBe(true);
    }
  });

  it('that does not say its rank gets it from the command line', async () => {
    const { report } = await mergeWith(write('rank0.json', text({ isNameless: true })), 0);
    expect(report.foreign).toMatchObject([{ rank: 0, kernels: { matched: works.length } }]);
  });

  it.each(['kernel', 'call'] as const)(
    'numbers its operations (on the %s), and the numbers agree',
    async (on) => {
      // Seq counts all functions of a group, and begins where the group began.
      const { own, report } = await drawn({ numbered: (i) => ({ Seq: 40 + i }), numberedOn: on });
      expect(own.kernels).toMatchObject({ numbered: works.length, contradicted: 0, matched: works.length });
      expect(mergeReportText(report)).toContain(`${works.length} of ${works.length} also by number`);
    },
  );

  it('of two ranks has one Comms Id per collective', async () => {
    const id = (_: number, { name, args }: ViewSlice) => ({ 'Comms Id': `${name} ${String(args.seq)}` });
    const files = [0, 1].map((rank) => ({
      path: write(
        `rank${rank}.json`,
        kinetoText(collectivesOf(plain, rank), { rank, worldSize: 2, numbered: id }),
      ),
      rank: null,
    }));
    const { foreign } = await mergeHere({ with: files });
    expect(foreign).toMatchObject([0, 1].map((rank) => ({ rank, kernels: { contradicted: 0 } })));
    // The second file calls each by the name of the one before.
    const other = (i: number) => id(i, works[Math.max(0, i - 1)]!);
    write('rank1.json', kinetoText(collectivesOf(plain, 1), { rank: 1, worldSize: 2, numbered: other }));
    const { foreign: refusedOne } = await mergeHere({ with: files });
    expect(refusedOne[1]).toMatchObject({ refused: 'other-work' });
    expect((refusedOne[1] as RefusedReport).why).toMatch(/are others by "Seq" or "Comms Id"/);
  });

  it('is cut to a selected time', async () => {
    const select = { from: { s: 4 }, to: { s: 4.5 } };
    const { trace } = await mergeHere({
      with: [{ path: write('rank0.json', text()), rank: null }],
      select: select as never,
    });
    expect(countsOf(view())).toEqual(trace);
  });
});

describe('a run whose records do not say when collectives ended', () => {
  it('is compared by the calls: the GPU may be any time behind', async () => {
    const args = '--ranks 2 --iterations 30 --ops allreduce:64K,allgather:32K';
    const settings = { NCCL_TRACE_EVENTS: 'coll', NCCL_TRACE_RING_MB: '1' };
    const recording = await keptJob('kineto-calls', folder, args, settings);
    await mergeHere({ inputs: [recording] });
    const called = collectivesOf(view(), 0).sort((a, b) => Number(a.ts - b.ts));
    expect(called).toHaveLength(60);
    // Farther and farther behind: no shift of the clock fits.
    const late = called.map((one, i) => ({ ...one, name: functionOf(one)!, dur: BigInt(5e6 + i * 2e6) }));
    for (const shift of [0n, 3_000_000n]) {
      const path = write('late.json', kinetoText(late, { rank: 0, worldSize: 2, shift }));
      const { foreign } = await mergeHere({ inputs: [recording], with: [{ path, rank: null }] });
      const { kernels } = foreign[0] as DrawnReport;
      expect(kernels).toMatchObject({ by: 'call', found: 60, compared: 60, matched: 60 });
      expect(Math.abs(kernels.residual! - Number(shift))).toBeLessThan(200_000);
    }
    const other = write('late.json', kinetoText(late, { rank: 0, worldSize: 2, func: 'ReduceScatter' }));
    const { foreign } = await mergeHere({ inputs: [recording], with: [{ path: other, rank: null }] });
    expect(foreign[0]).toMatchObject({ refused: 'other-work' });
  });
});

describe('without a file', () => {
  it('nothing of this is in the trace', async () => {
    await mergeHere({ with: [] });
    expect(bytes().equals(plainBytes)).toBe(true);
  });
});

describe('a file that may not share the axis', () => {
  const NAMELESS = { rank: 0, worldSize: 2, isNameless: true };
  /** As many as ours (the first of ours began before the window), and four times as fast: no shift of the clock fits more than some. */
  const elsewhen = () =>
    [works[0]!, ...works].map((one) => ({ ...one, ts: works[0]!.ts + (one.ts - works[0]!.ts) / 4n }));
  const CASES: readonly (readonly [string, () => string | Buffer, number | null, RegExp])[] = [
    ['broken', () => text().slice(0, -200), null, /damaged or cut off.*copy it again/],
    ['broken', () => gzipSync(text()).subarray(0, 500), null, /damaged or cut off/],
    ['broken', () => text().replace('"dur"', 'dur'), null, /damaged or cut off/],
    ['broken', () => `{"traceEvents": [${'['.repeat(2000)}`, null, /1000 deep/],
    ['not-a-trace', () => '[1, 2]', null, /expected a JSON object with "traceEvents"/],
    ['not-a-trace', () => '', null, /not a trace/],
    ['not-a-trace', () => '{"a": 1}', null, /not a trace/],
    ['not-a-trace', () => '{"traceEvents": [{"ph": "M"}]}', null, /no events/],
    ['not-a-trace', () => '{"traceEvents": []}', null, /no events/],
    ['rank-unknown', () => text({ isNameless: true }), null, /--with RANK=/],
    ['rank-differs', () => text({}), 1, /expected rank 1, found rank 0/],
    ['rank-absent', () => text({ isNameless: true }), 9, /no rank file of rank 9/],
    ['world-differs', () => text({ worldSize: 8 }), null, /expected 2 ranks, found 8/],
    ['host-differs', () => text({ host: 'node17' }), null, /found node17/],
    ['times-unknown', () => text().replace('baseTimeNanoseconds', 'base'), null, /baseTimeNanoseconds/],
    [
      'other-time',
      () => text({ shift: 86_400_000_000_000n }),
      null,
      /another time \(expected .*Z to .*Z, found/,
    ],
    ['other-work', () => text({ func: 'ReduceScatter' }), null, /found ReduceScatter/],
    // The same calls, so their counts are no difference.
    ['other-work', () => kinetoText(elsewhen(), NAMELESS), 1, /by name and time; name .* its own rank$/],
    ['other-work', () => text({ numbered: (i) => ({ Seq: 1000 - i }) }), null, /are others by "Seq"/],
  ];

  it('is refused with what was expected and found, and costs the run nothing', async () => {
    const files = CASES.map(([, content, rank], i) => ({ path: write(`${i}.json`, content()), rank }));
    const report = await mergeHere({ with: files });
    expect(report.foreign).toHaveLength(CASES.length);
    for (const [i, [kind, , , why]] of CASES.entries()) {
      const own = report.foreign[i] as RefusedReport;
      expect(own).toMatchObject({ path: files[i]!.path, refused: kind });
      expect(own.why).toMatch(why);
      expect(report.problems).toContain(own.why);
    }
    expect(report.trace).toEqual(countsOf(plain));
  });

  it('is the end of a strict merge, before anything is written', async () => {
    const path = write('other.json', text());
    truncateSync(path, 1000);
    const output = join(folder, 'strict.pftrace');
    await expect(mergeHere({ with: [{ path, rank: null }], strict: true, output })).rejects.toThrow(
      /cut off/,
    );
    expect(() => readFileSync(output)).toThrow(/ENOENT/);
  });

  it('cannot hide its names', async () => {
    const path = write('rank0.json', text());
    await expect(mergeHere({ with: [{ path, rank: null }], redact: true })).rejects.toThrow(/--redact/);
  });
});
