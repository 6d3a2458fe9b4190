/** `nccl-trace clocks`: host by host, in words and as JSON. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runHere } from '../support/program/command_line.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';
import type { ClocksReport } from '../../src/report/clock_map_report.js';

type ClockMapReport = ClocksReport['maps'][number];

let folder: string;
let remove: () => void;

beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
  mkdirSync(join(folder, 'run'));
  for (let rank = 0; rank < SMALL_RUN.ranks; rank++) {
    const bootId = `0${rank}`.repeat(16);
    madeUpRank(rank, SMALL_RUN, { bootId, hostName: `node00${rank}` }).write(
      join(folder, 'run', `rank0000${rank}.bin`),
    );
  }
});

afterEach(() => {
  remove();
});

it('says how good each clock is, and why', async () => {
  const { code, out } = await runHere(folder, 'clocks', 'run');
  const lines = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines[0]).toMatch(
    /^host +ranks +by +drift ppm +wander ppm\/min +99 % us +hard us +data +credit +violations +flags$/,
  );
  expect(lines[2]).toMatch(/^node001 +1 +traffic +-?\d+\.\d\d +[\d.]+ +[\d.]+ +36 +36 +0$/);
  expect(lines.at(-1)).toMatch(/^clocks: 4 hosts by 72 transfers: 99 % [\d.]+ us \(\w+\), hard [\d.]+ us$/);
});

/** Of rank 0, in its own ticks (support/made_up_run.ts). */
const FIRST_SEND_NS = 1210;

/** A reader that knows only schemas/clocks.md. */
function timeOf(tick: bigint, { files: [file], pieces }: ClockMapReport): bigint {
  const { tickBase, offsetNs, nsPerTick } = file!;
  const local = offsetNs + Number(tick - BigInt(tickBase)) * nsPerTick;
  const piece = pieces.findLast(({ fromNs }, i) => i === 0 || fromNs <= local)!;
  return BigInt(Math.round(local + piece.offsetNs + piece.driftPpm * 1e-6 * (local - piece.fromNs)));
}

it('gives maps from ticks to the times of the trace', async () => {
  const { out } = await runHere(folder, 'clocks', 'run', '--json');
  const { traceStart, maps } = JSON.parse(out) as ClocksReport;
  await runHere(folder, 'merge', 'run', '-o', 'out.pftrace');
  const { slices } = viewTrace(readFileSync(join(folder, 'out.pftrace')));
  maps.forEach((map, rank) => {
    const drawn = slices.filter(
      ({ name, track }) => name === 'proxy send' && track.process?.pid === 1_000_000 + rank,
    );
    const begun = BigInt(map.files[0]!.tickBase) + BigInt(FIRST_SEND_NS + 10 * rank);
    const expected = drawn.map((_, i) => BigInt(traceStart) + timeOf(begun + BigInt(100_000 * i), map));
    expect(drawn).toHaveLength(SMALL_RUN.collectives);
    expect(drawn.map(({ ts }) => ts)).toEqual(expected);
  });
});

it('says the same as JSON, and with --strict fails where wall clocks are all there is', async () => {
  const { out } = await runHere(folder, 'clocks', 'run', '--json');
  const json = JSON.parse(out) as { version: number; clocks: unknown[]; traffic: unknown };
  expect(json.version).toBe(2);
  expect(json.clocks).toHaveLength(4);
  expect(json.clocks[3]).toMatchObject({
    source: 'traffic',
    evidence: { data: 36, credit: 36 },
    violations: 0,
  });
  expect(json.traffic).toMatchObject({ pairs: 72, leftOut: [] });
  const { maps } = JSON.parse(out) as ClocksReport;
  expect(maps).toHaveLength(4);
  const [reference, , , other] = maps as [ClockMapReport, unknown, unknown, ClockMapReport];
  expect(reference.pieces[0]).toMatchObject({ hardBound: 0, bound99: 0 });
  expect(other.files).toMatchObject([{ ranks: [3] }]);
  for (const { hardBound, bound99 } of other.pieces) {
    expect(hardBound).toBeGreaterThan(0);
    expect(bound99).toBeLessThanOrEqual(hardBound!);
  }
  // The pieces join: where one ends the next one begins at the same time of the trace.
  other.pieces.slice(1).forEach((piece, i) => {
    const before = other.pieces[i]!;
    const length = piece.fromNs - before.fromNs;
    expect(before.toNs).toBe(piece.fromNs);
    expect(before.offsetNs + before.driftPpm * 1e-6 * length).toBeCloseTo(piece.offsetNs, 0);
  });
  const { code } = await runHere(folder, 'clocks', 'run', '--clock', 'realtime', '--strict');
  expect(code).toBe(1);
});
