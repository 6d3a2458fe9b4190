/** `merge` from files to bytes: what the trace holds, that it agrees with the summary, and bad input. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { merge, type MergeOptions } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { madeUpRank, SMALL_RUN, writeRun } from '../support/made_up/made_up_run.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace, type TraceView } from '../support/traces/trace_view.js';
import { unpackFrames } from '../support/rank_files/zstd_frames.js';

const hasZstd = spawnSync('zstd', ['--version']).status === 0;

let folder: string;
let output: string;
let files: string[];
eachInItsFolder((made) => {
  folder = made;
  mkdirSync(join(folder, 'run'));
  files = writeRun(join(folder, 'run'));
  output = join(folder, 'out.pftrace');
});

const mergeHere = (options: Partial<MergeOptions> = {}): Promise<MergeReport> =>
  merge({ inputs: [join(folder, 'run')], output, jobs: 1, ...options });

const view = (path = output): TraceView => viewTrace(readFileSync(path), { emptySlices: 'fine' });

/** Everything `schemas/trace.md` promises to be equal. */
function expectSummaryIsTrue({ trace }: MergeReport, seen: TraceView): void {
  expect(seen.attributes['nccl_trace.slices']).toBe(BigInt(seen.slices.length));
  expect(trace).toEqual({
    slices: seen.slices.length,
    openSlices: seen.slices.filter((slice) => slice.dur === -1n).length,
    instants: seen.slices.filter((slice) => slice.isInstant).length,
    counterSamples: seen.counters.length,
    states: seen.states.length,
    flows: seen.flows.length,
    tracks: new Set([...seen.slices, ...seen.counters, ...seen.states].map(({ track }) => track)).size,
    processes: seen.processes.length,
  });
}

describe('a whole run', () => {
  it('becomes one clean trace, and the summary counts it', async () => {
    const report = await mergeHere();
    const seen = view();
    expect(seen.problems).toEqual([]);
    expectSummaryIsTrue(report, seen);
    expect(report).toMatchObject({ worldSize: 4, missingRanks: [], problems: [] });
    expect(seen.processes.map(({ name, pid }) => [name, pid])).toEqual(
      [0, 1, 2, 3].map((rank) => [`rank 000${rank} · node000`, 1_000_000 + rank]),
    );
  });

  it('has an arrow for every transfer, forwards, from peer wait to flush wait', async () => {
    await mergeHere();
    const { flows } = view();
    expect(flows).toHaveLength(SMALL_RUN.ranks * SMALL_RUN.collectives * SMALL_RUN.steps);
    for (const { from, to } of flows) {
      expect([from.name, to.name]).toEqual(['peer wait', 'flush wait']);
      expect(from.ts + from.dur).toBeLessThanOrEqual(to.ts);
      expect(to.track.process?.pid).toBe(1_000_000 + (((from.track.process?.pid ?? 0) - 999_999) % 4));
    }
  });

  it('joins the ranks of a collective by correlation id, and the cluster’s slice with them', async () => {
    await mergeHere();
    const collectives = view().slices.filter(({ name }) => name === 'AllReduce');
    const ids = new Map<unknown, number>();
    for (const { correlation } of collectives) ids.set(correlation, (ids.get(correlation) ?? 0) + 1);
    expect([...ids.values()]).toEqual([4 + 1, 4 + 1, 4 + 1]);
  });

  it('counts bytes up to the total', async () => {
    await mergeHere();
    const totals = view()
      .counters.filter(({ track }) => track.name.endsWith(' · tx bytes'))
      .map(({ value }) => value);
    expect(Math.max(...totals)).toBe(SMALL_RUN.collectives * SMALL_RUN.steps * 2048);
  });

  it('gives the same bytes in any order of the files, and packed the same trace', async () => {
    await mergeHere();
    const other = join(folder, 'other.pftrace');
    await mergeHere({ inputs: [...files].reverse(), output: other });
    expect(readFileSync(other).equals(readFileSync(output))).toBe(true);
    const packed = join(folder, 'out.pftrace.gz');
    const report = await mergeHere({ output: packed });
    expect(readFileSync(packed).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(view(packed).slices).toHaveLength(view().slices.length);
    expectSummaryIsTrue(report, view(packed));
  });

  it('gives the same trace in zstd frames', async () => {
    await mergeHere();
    const packed = join(folder, 'out.pftrace.zst');
    await mergeHere({ output: packed });
    const bytes = readFileSync(packed);
    expect(bytes.length).toBeLessThan(readFileSync(output).length / 2);
    expect(unpackFrames(bytes).equals(readFileSync(output))).toBe(true);
  });

  it.skipIf(!hasZstd)('in zstd frames that the real zstd unpacks', async () => {
    await mergeHere();
    const packed = join(folder, 'out.pftrace.zst');
    await mergeHere({ output: packed });
    const { stdout, status } = spawnSync('zstd', ['-dcq', packed]);
    expect(status).toBe(0);
    expect(stdout.equals(readFileSync(output))).toBe(true);
  });
});

describe('a run with gaps', () => {
  it('names the missing rank and draws no arrow to it', async () => {
    const report = await mergeHere({ inputs: files.filter((_, rank) => rank !== 2) });
    expect(report.missingRanks).toEqual([2]);
    expectSummaryIsTrue(report, view());
    expect(report.trace.flows).toBe(2 * SMALL_RUN.collectives * SMALL_RUN.steps);
  });

  it('draws no arrows between hosts that only NTP relates, and says so', async () => {
    madeUpRank(3, SMALL_RUN, { bootId: 'ff'.repeat(16), hostName: 'node001' }).write(files[3]!);
    const report = await mergeHere({ clock: 'realtime' });
    expect(report.clocks).toHaveLength(2);
    expect(report.clocks[0]).toMatchObject({ source: 'realtime', hardBound: null, bound99: null });
    expect(report.trace.flows).toBe(2 * SMALL_RUN.collectives * SMALL_RUN.steps);
    expect(view().problems).toEqual([]);
    expectSummaryIsTrue(report, view());
  });

  it('draws arrows between hosts that transfers relate, and says how far they can be wrong', async () => {
    madeUpRank(3, SMALL_RUN, { bootId: 'ff'.repeat(16), hostName: 'node001' }).write(files[3]!);
    const report = await mergeHere();
    for (const clock of report.clocks) expect(clock).toMatchObject({ source: 'traffic', violations: 0 });
    expect(report.clocks[1]!.hardBound).toBeGreaterThan(0);
    expect(report.traffic).toMatchObject({
      pairs: 36,
      leftOut: [],
      brokenArrows: { backwards: 0, mismatched: 0 },
    });
    expect(report.trace.flows).toBe(4 * SMALL_RUN.collectives * SMALL_RUN.steps);
    expectSummaryIsTrue(report, view());
  });
});

describe('bad input', () => {
  const bad: Record<string, [spoil: (path: string) => void, sentence: RegExp]> = {
    'a text file': [
      (path) => {
        writeFileSync(path, 'hello, world\n'.repeat(999));
      },
      /not a rank file/,
    ],
    'an empty file': [
      (path) => {
        truncateSync(path, 0);
      },
      /empty|zero/i,
    ],
    'a file cut short in its header': [
      (path) => {
        truncateSync(path, 3000);
      },
      /cut short|truncated|ends/i,
    ],
    'a file of a newer version': [
      (path) => madeUpRank(1, SMALL_RUN, { readerVersion: 99, writerVersion: 99 }).write(path),
      /newer|version 99/,
    ],
    'a file still being created': [
      (path) => madeUpRank(1, SMALL_RUN, { life: 'creating' }).write(path),
      /creat/,
    ],
  };

  it.each(Object.entries(bad))('%s does not take the other ranks away', async (_, [spoil, sentence]) => {
    spoil(files[1]!);
    const report = await mergeHere();
    expect(report.problems.join('\n')).toMatch(sentence);
    expect(report.problems.join('\n')).toContain(files[1]);
    expect(report.missingRanks).toEqual([1]);
    expect(view().problems).toEqual([]);
    expectSummaryIsTrue(report, view());
  });

  it('a file cut short in its rings gives its records, and reports the missing part', async () => {
    truncateSync(files[1]!, 20_000);
    const report = await mergeHere();
    expect(report.missingRanks).toEqual([]);
    expect(report.ranks[1]?.problems.join()).toMatch(/cut|ends|beyond/);
    expect(view().problems).toEqual([]);
    expectSummaryIsTrue(report, view());
  });

  it('with --strict writes nothing', async () => {
    writeFileSync(files[1]!, 'hello');
    await expect(mergeHere({ strict: true })).rejects.toThrow(
      /^1 of the 4 files cannot be used:\n.*not a rank file/,
    );
    expect(readdirSync(folder)).toEqual(['run']);
  });

  it('that is the only one is reported file by file', async () => {
    for (const file of files) truncateSync(file, 0);
    await expect(mergeHere()).rejects.toThrow(/none of the 4 files can be used:\n.*rank00000.bin/);
    expect(readdirSync(folder)).toEqual(['run']);
  });

  it.skipIf(process.getuid?.() === 0)('an unreadable file is named', async () => {
    chmodSync(files[1]!, 0);
    expect((await mergeHere()).problems.join()).toMatch(/may not be read/);
  });

  it('the same file twice is used once', async () => {
    const report = await mergeHere({ inputs: [...files, files[0]!] });
    expect(report.problems).toHaveLength(1);
    expect(report.problems[0]).toMatch(/named 2 times, used once/);
    expect(report.ranks).toHaveLength(4);
  });

  it('a copy of a file gives way to the newer', async () => {
    copyFileSync(files[0]!, join(folder, 'run', 'rank00000.copy.bin'));
    const report = await mergeHere();
    expect(report.problems[0]).toMatch(/is another copy of .*\(same process\) and left out/);
    expect(report.ranks).toHaveLength(4);
  });

  it('two processes that claim one rank are distinguished', async () => {
    madeUpRank(0, SMALL_RUN, { pid: 4242 })
      .heartbeat(900_000)
      .write(join(folder, 'run', 'rank00000.4242.bin'));
    const report = await mergeHere();
    expect(report.problems[0]).toMatch(/both claim rank 0: two processes of one run/);
    expect(report.ranks[0]).toMatchObject({ rank: 0, pid: 4242 });
  });

  it('a process that another one replaced is drawn beside it', async () => {
    const run = unpackRecording('cases/replaced', folder);
    const report = await mergeHere({ inputs: [run] });
    expect(report.problems).toEqual([]);
    expect(report.ranks.map(({ rank }) => rank)).toEqual([0, 1, 2, 2, 3]);
    const ofRank2 = view().processes.filter(({ name }) => name.startsWith('rank 0002'));
    expect(ofRank2.map(({ name }) => name.includes('(replaced)')).sort()).toEqual([false, true]);
    expect(new Set(ofRank2.map(({ pid }) => pid)).size).toBe(2);
  });

  it('never mixes two runs: the newest is merged, the other named', async () => {
    const later = { runId: 'run2', startRealtime: 1_770_000_000_000_000_000n };
    for (const rank of [0, 1]) {
      madeUpRank(rank, { ...SMALL_RUN, ranks: 2 }, { ...later, pid: 9000 + rank }).write(
        join(folder, 'run', `rank9000${rank}.bin`),
      );
    }
    const report = await mergeHere();
    expect(report.problems[0]).toMatch(/and 3 more are of another run \(run1, .*newest run here is run2/);
    expect(report.ranks.map(({ rank }) => rank)).toEqual([0, 1]);
    expect(report.worldSize).toBe(2);
  });

  it('runs without an id are distinguished by their communicators', async () => {
    writeRun(join(folder, 'run'), SMALL_RUN, { runId: '' });
    expect((await mergeHere()).problems).toEqual([]);
  });
});

describe('output', () => {
  it('is not replaced without force', async () => {
    await mergeHere();
    const before = statSync(output).ino;
    await expect(mergeHere()).rejects.toThrow(/already exists; use --force/);
    expect(statSync(output).ino).toBe(before);
    await mergeHere({ force: true });
    expect(statSync(output).ino).not.toBe(before);
    expect(view().problems).toEqual([]);
  });

  it('never replaces a file that is no trace of ours, even with --force', async () => {
    writeFileSync(output, 'precious');
    await expect(mergeHere({ force: true })).rejects.toThrow(/not a trace written by nccl-trace/);
    expect(readFileSync(output, 'utf8')).toBe('precious');
  });

  it('into a missing directory is refused before any work', async () => {
    await expect(mergeHere({ output: join(folder, 'no', 'where.pftrace') })).rejects.toThrow(
      /there is no directory/,
    );
  });

  it('leaves nothing behind but itself', async () => {
    await mergeHere();
    expect(readdirSync(folder).sort()).toEqual(['out.pftrace', 'run']);
  });

  it('of other kinds is refused', async () => {
    await expect(mergeHere({ output: 'x.json' })).rejects.toThrow(/\.pftrace\.gz or \.pftrace\.zst/);
    expect(existsSync('x.json')).toBe(false);
  });
});
