/** `merge --with`: SQLite exports of Nsight Systems beside the ranks, one process or several, and the files that may not share the axis. */

import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DrawnReport } from '../../src/foreign/beside/beside.js';
import type { RefusedReport } from '../../src/foreign/beside/parts.js';
import { merge, type MergeOptions } from '../../src/merge.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import type { MergeReport } from '../../src/report/report.js';
import { collectivesOf } from '../support/made_up/kineto.js';
import { changeNsys, coveredOf, writeNsys, type NsysOptions } from '../support/made_up/nsys.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { countsOf, viewTrace, type TraceView, type ViewSlice } from '../support/traces/trace_view.js';

const RUN = 'samples/wrapped';
/** The processes of its ranks. */
const PIDS = [27012, 27014] as const;
let folder: string;
let remove: () => void;
let works: readonly (readonly ViewSlice[])[];
let plain: TraceView;
let file: string;
/** With the file of both ranks as `write` makes it. */
let base: Awaited<ReturnType<typeof mergeWith>>;

beforeAll(async () => {
  ({ folder, remove } = temporaryFolder());
  file = join(folder, 'both.sqlite');
  await mergeHere();
  plain = view();
  works = PIDS.map((_, rank) => collectivesOf(plain, rank));
  base = await mergeWith(write());
});
afterAll(() => {
  remove();
});

const mergeHere = (options: Partial<MergeOptions> = {}): Promise<MergeReport> =>
  merge({ inputs: [RUN], output: join(folder, 'out.pftrace'), force: true, jobs: 1, ...options });
const view = (): TraceView => viewTrace(readFileSync(join(folder, 'out.pftrace')), { emptySlices: 'fine' });

/** `ranks`: whose processes are in the file, by their own pids or others. */
function write(options: NsysOptions = {}, pids: readonly number[] = PIDS): string {
  writeNsys(
    file,
    pids.map((pid, rank) => ({ pid, works: works[rank]! })),
    options,
  );
  return file;
}

async function mergeWith(path: string, rank: number | null = null) {
  const report = await mergeHere({ with: [{ path, rank }] });
  return { report, seen: view() };
}

const group = ({ slices }: TraceView): ViewSlice[] =>
  slices.filter(({ track }) => track.path[1]?.startsWith('Nsight Systems'));
const kernelsIn = (seen: TraceView, rank: number): ViewSlice[] =>
  group(seen).filter(
    ({ track }) => track.name === 'GPU 0 stream 20' && track.process?.pid === 1_000_000 + rank,
  );

describe('an export of Nsight Systems', () => {
  it('with two ranks is a group beside NCCL in each: ranges, calls, kernels and copies, and nothing is lost', () => {
    const { report, seen } = base;
    expect(seen.problems).toEqual([]);
    expect(report.trace).toEqual(countsOf(seen));
    expect(report.foreign).toHaveLength(2);
    const tracks = seen.tracks.filter(({ path }) => path[1] === 'Nsight Systems');
    for (const [rank, pid] of PIDS.entries()) {
      const own = report.foreign[rank] as DrawnReport;
      const count = works[rank]!.length;
      expect(own).toMatchObject({
        rank,
        slices: 3 * count + 5,
        instants: 1,
        kernels: { found: count, matched: count, corrected: 0 },
        leftOut: { 'slices without a duration': 1, 'rows of CUPTI_ACTIVITY_KIND_SYNCHRONIZATION': 1 },
      });
      const named = tracks.filter(({ process }) => process?.pid === 1_000_000 + rank);
      expect(named.map(({ path }) => path.slice(2).join()).filter(Boolean)).toEqual([
        `python3 ${pid}`,
        'GPU 0 stream 7',
        'GPU 0 stream 20',
      ]);
      expect(kernelsIn(seen, rank)).toHaveLength(count);
    }
    const first = group(seen);
    expect(first.find(({ name }) => name === 'memcpy Host-to-Device')?.args).toMatchObject({ bytes: 4096 });
    expect(first.find(({ name }) => name === 'ncclAllReduce')?.args).toMatchObject({ domain: 'NCCL' });
    expect(kernelsIn(seen, 0)[0]!.args).toMatchObject({
      gridX: 8,
      demangledName: expect.stringContaining('ncclDevKernelArgsStorage') as string,
    });
    for (const [rank, own] of report.foreign.entries()) {
      const [whole, step, ...others] = (own as DrawnReport).exposed;
      const covered = Number(coveredOf(works[rank]!));
      expect([whole, step]).toMatchObject([
        { rank, step: null, overlapped: covered },
        { rank, step: 'step 7', overlapped: covered },
      ]);
      expect(others).toEqual([]);
      const kernels = kernelsIn(seen, rank).reduce((sum, { dur }) => sum + Number(dur), 0);
      // The file's clock and the trace's run at slightly different rates.
      expect(Math.abs(whole!.nccl - kernels)).toBeLessThan(10_000);
      expect(whole!.exposed).toBe(whole!.nccl - covered);
      // The range ends when the last collective begins.
      expect(step!.nccl).toBeLessThan(kernels);
    }
    expect(mergeReportText(report)).toMatch(
      /exposed communication: [^\n]*\nrank +step [^\n]*\n +\d +step 7 /,
    );
    expect(mergeReportText(report)).toMatch(/rank 1: \d+ slices of .*both\.sqlite, .* NCCL kernels are our/);
  });

  it('lies where the host stamped it, to the nanosecond, also with --ts-normalize', async () => {
    const normalized = await mergeWith(write({ isNormalized: true }));
    const times = ({ seen }: typeof base): bigint[] => kernelsIn(seen, 1).map(({ ts }) => ts);
    expect(times(normalized)).toEqual(times(base));
    expect(Math.abs((base.report.foreign[0] as DrawnReport).kernels.residual!)).toBeLessThan(200_000);
  });

  it('has arrows from the call to the kernel and to our collective', () => {
    const { seen } = base;
    const launches = seen.flows.filter(({ from }) => from.name === 'cudaLaunchKernelExC_v11060');
    const kernels = launches.flatMap(({ to }) => (to.name?.startsWith('ncclDevKernel') ? [to] : []));
    expect(new Set(kernels).size).toBe(works[0]!.length + works[1]!.length);
    const joined = new Set(
      seen.flows.flatMap(({ from, to }) =>
        [from, to].some(({ track }) => track.path[1] === 'Nsight Systems')
          ? [from, to].filter(({ args }) => args.seq !== undefined)
          : [],
      ),
    );
    expect(joined.size).toBe(works[0]!.length + works[1]!.length);
  });

  it('of a host whose clock is 3 ms ahead is moved back', async () => {
    const { report } = await mergeWith(write({ shift: 3_000_000n }));
    const { corrected } = (report.foreign[0] as DrawnReport).kernels;
    expect(Math.abs(corrected - 3_000_000)).toBeLessThan(250_000);
  });

  it('from a container with pids of its own gets its rank from the command line', async () => {
    const { report } = await mergeWith(write({}, [7]), 0);
    expect(report.foreign).toMatchObject([{ rank: 0, kernels: { matched: works[0]!.length } }]);
  });

  it('with several ranks, of which one is named, draws that one, and is only read: nothing is left beside it', async () => {
    write();
    const before = readdirSync(folder);
    const bytes = readFileSync(file);
    const { report } = await mergeWith(file, 1);
    expect(report.foreign).toMatchObject([{ rank: 1 }]);
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });
});

describe('an export that may not share the axis', () => {
  const copied = (name: string, options: NsysOptions = {}, pids: readonly number[] = PIDS): string => {
    const path = join(folder, `${name}.sqlite`);
    copyFileSync(write(options, pids), path);
    return path;
  };
  const changed = (name: string, sql: string): string => {
    const path = copied(name);
    changeNsys(path, sql);
    return path;
  };
  const CASES: readonly (readonly [string, () => string, number | null, RegExp])[] = [
    [
      'broken',
      () => {
        const path = copied('cut');
        truncateSync(path, 20_000);
        return path;
      },
      null,
      /SQLite: database disk image is malformed/,
    ],
    [
      'broken',
      () => {
        const path = copied('written');
        writeFileSync(`${path}-journal`, 'x');
        return path;
      },
      null,
      /still written/,
    ],
    [
      'not-a-trace',
      () => changed('dropped', 'DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL'),
      null,
      /nsys profile --trace=cuda,nvtx/,
    ],
    [
      'not-a-trace',
      () => changed('nameless', 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN globalPid TO pid'),
      null,
      /expected a table CUPTI_ACTIVITY_KIND_KERNEL with start, end, globalPid, found start, end/,
    ],
    [
      'not-a-trace',
      () => changed('empty', 'DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL'),
      null,
      /no process in the file used a GPU/,
    ],
    [
      'not-a-trace',
      () => {
        const path = join(folder, 'report.nsys-rep');
        writeFileSync(path, 'QDSTRM');
        return path;
      },
      null,
      /found a report of Nsight Systems.*nsys export --type sqlite/,
    ],
    ['rank-unknown', () => copied('others', {}, [7, 8]), 1, /wrote the file of rank 1.*found processes 7, 8/],
    [
      'rank-unknown',
      () => copied('other', {}, [7]),
      null,
      /process 7 is of no rank file here \(expected 27012, 27014\)/,
    ],
    [
      'rank-unknown',
      () => copied('elsewhere', { host: 'node17' }, [27012]),
      null,
      /process 27012 is of no rank/,
    ],
    ['rank-absent', () => copied('absent', {}, [7]), 9, /no rank file of rank 9/],
    ['host-differs', () => copied('host', { host: 'node17' }, [27012]), 0, /found node17/],
    [
      'times-unknown',
      () => changed('timeless', 'DELETE FROM TARGET_INFO_SESSION_START_TIME'),
      0,
      /utcEpochNs/,
    ],
    [
      'times-unknown',
      () => changed('shifted', "UPDATE META_DATA_EXPORT SET value = '5'"),
      0,
      /no --ts-shift/,
    ],
    ['other-time', () => copied('late', { shift: 86_400_000_000_000n }, [27012]), null, /another time/],
    ['other-work', () => copied('work', { func: 'ReduceScatter' }, [27012]), null, /found ReduceScatter/],
  ];

  it('is refused with what was expected and found, and costs the run nothing', async () => {
    const files = CASES.map(([, make, rank]) => ({ path: make(), rank }));
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
});
