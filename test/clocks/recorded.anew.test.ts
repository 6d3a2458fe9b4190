/** Recorded traffic of several ranks of one machine, which the first tier plays, each given a clock of its own. The alignment is compared with the truth. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockTable } from '../../src/report/clock_text.js';
import { merge } from '../../src/merge.js';
import { openRankFileHeader } from '../../src/rankfile/index.js';
import { reportClocks, reportTraffic } from '../../src/report/clock_report.js';
import { keptJob } from '../support/jobs/kept_job.js';
import { seeded } from '../support/clocks/simulated_links.js';
import { loseRecords, loseSlots } from '../support/clocks/skew.js';
import {
  checkRun,
  drawSkews,
  pairsOf,
  placedErrors,
  skewRun,
  solveFiles,
  type SkewedRun,
} from '../support/clocks/skewed_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const HOSTS = 4;
/** Two jobs with one name are told apart by what they did, not by what they are called. */
const SETTINGS = { NCCL_TRACE_RING_MB: '4', NCCL_TRACE_RUN_ID: 'night' };
const { folder, remove } = temporaryFolder();
let source: string;
let skewed: SkewedRun;

beforeAll(async () => {
  const args = `--ranks ${HOSTS} --channels 1 --iterations 6 --ops allreduce:32K*4,allreduce:1M,sleep:30ms`;
  source = await keptJob('clocks-ring', folder, args, SETTINGS);
  skewed = skewRun(source, join(folder, 'skewed'), drawSkews(5, HOSTS, 2e9));
});

afterAll(remove);

let number = 0;
const stepFolder = (): string => join(folder, `steps-${number++}`);

describe('ranks on several hosts', () => {
  it('are put on one clock by their transfers, inside the bounds', () => {
    const solved = solveFiles(skewed.files, stepFolder());
    expect(solved.traffic?.alignment.culprits).toEqual([]);
    expect(solved.traffic?.evidence.counts).toMatchObject({
      sizesDiffer: 0,
      operationsDiffer: 0,
      sizeLost: 0,
      unconfirmed: 0,
      sampledOut: 0,
    });
    expect(solved.broken.backwards.size).toBe(0);
    const checks = checkRun(skewed, solved);
    expect(checks.length).toBeGreaterThan(50);
    for (const { insideHard, error } of checks) {
      expect(insideHard).toBe(true);
      expect(Math.abs(error)).toBeLessThan(5e6); // of 50 ms: no promise on a busy machine, but no accident either
    }
    for (const { map } of solved.solution.domains) expect(map.segments[0]?.source).toBe('traffic');
  });

  it('do not follow a wall clock that is stepped and slewed, and the report says so', () => {
    const restless = skewed.skews.map((skew, host) =>
      host % 2 === 0 ? skew : { ...skew, wallError: (ns: number) => ns * 500e-6 + (ns > 0.1e9 ? 1e9 : 0) },
    );
    const stepped = skewRun(source, join(folder, 'stepped'), restless);
    const solved = solveFiles(stepped.files, stepFolder());
    const plain = checkRun(skewed, solveFiles(skewed.files, stepFolder()));
    checkRun(stepped, solved).forEach(({ error }, i) => {
      expect(Math.abs(error - plain[i]!.error)).toBeLessThan(100);
    });
    const flags = solved.solution.domains.map(({ map }) =>
      map.segments[0]!.flags.includes('realtime-stepped'),
    );
    expect(flags).toEqual([false, true, false, true]);
  });

  it('that are clones and exchange nothing with each other have a clock each; containers of one host share a clock', () => {
    const twins = (name: string, apartNs: number) => {
      const twin = skewed.skews[1]!;
      const apart = (apartNs * openRankFileHeader(skewed.files[0]!).tickHz) / 1e9;
      const other = { ...twin, hostName: 'node003', offsetTicks: twin.offsetTicks + apart };
      const run = skewRun(source, join(folder, name), [...skewed.skews.slice(0, 3), other]);
      return { run, solved: solveFiles(run.files, stepFolder()) };
    };
    // Far more than a message takes on a busy machine. The samples of one boot may disagree by 50 ms, so they tell nothing.
    const clones = twins('clones', 40e6);
    expect(clones.solved.traffic?.alignment.culprits).toEqual([]);
    const { domains } = clones.solved.solution;
    expect(domains.map(({ hostName }) => hostName)).toEqual(['node000', 'node001', 'node002', 'node003']);
    expect(domains.map(({ map }) => map.segments[0]!.flags.join())).toEqual([
      '',
      'counter-contradicts-boot',
      '',
      'counter-contradicts-boot',
    ]);
    for (const { insideHard } of checkRun(clones.run, clones.solved)) expect(insideHard).toBe(true);
    const containers = twins('containers', 0);
    expect(containers.solved.solution.domainOf).toEqual([0, 1, 2, 1]);
  });

  it.each([
    ['records and operations', loseRecords],
    ['slots', loseSlots],
  ])('lose pairs with lost %s, and no wrong pair takes their place', (name, lose) => {
    const lossy = skewRun(source, join(folder, `lossy ${name}`), skewed.skews);
    const random = seeded(1);
    for (const file of lossy.files) lose(file, 0.05, random);
    const right = pairsOf(skewed.files, stepFolder());
    expect([...pairsOf(lossy.files, stepFolder())].filter((pair) => !right.has(pair))).toEqual([]);
    const solved = solveFiles(lossy.files, stepFolder());
    const { pairs, ...dropped } = solved.traffic!.evidence.counts;
    expect(pairs).toBeGreaterThan(100);
    expect(dropped.single).toBeGreaterThan(10);
    expect(dropped.operationsDiffer).toBe(0);
    expect(solved.traffic?.alignment.culprits).toEqual([]);
    for (const { insideHard } of checkRun(lossy, solved)) expect(insideHard).toBe(true);
  });

  it('are aligned without a file of another job, which is named', async () => {
    const args = `--ranks ${HOSTS} --channels 1 --iterations 2 --ops allreduce:32K*4,sleep:10ms`;
    const other = await keptJob('clocks-other-job', folder, args, SETTINGS);
    const strange = skewRun(other, join(folder, 'other'), skewed.skews);
    const mixed = {
      ...skewed,
      files: skewed.files.map((file, rank) => (rank === 2 ? strange.files[2]! : file)),
    };
    const solved = solveFiles(mixed.files, stepFolder());
    expect(solved.traffic?.alignment.culprits).toEqual([]);
    const clocks = reportClocks(solved, solved.run);
    expect(clocks.map(({ source }) => source)).toEqual(['traffic', 'traffic', 'realtime', 'traffic']);
    expect(clocks[2]).toMatchObject({
      host: 'node002',
      hardBound: null,
      flags: ['realtime-only'],
      evidence: {},
    });
    const checks = checkRun(skewed, { ...solved, run: solved.run }).filter(({ a, b }) => a !== 2 && b !== 2);
    expect(checks).toHaveLength(21 * 3);
    for (const { insideHard } of checks) expect(insideHard).toBe(true);
  });

  it('stay on their wall clocks where nothing connects them both ways', () => {
    const { solution, traffic } = solveFiles(skewed.files, stepFolder(), { clock: 'realtime' });
    expect(traffic).toBeNull();
    for (const { map } of solution.domains)
      expect(map.segments[0]).toMatchObject({ source: 'realtime', hardBound: Infinity });
  });
});

describe('ranks that only ever did collectives together', () => {
  it.each([
    ['AllReduce', 'allreduce:32K'],
    ['Broadcast from and Reduce to rank 0', 'broadcast:32K,reduce:32K'],
  ])('are put on one clock by their entries and ends, inside wide bounds: %s', async (name, ops) => {
    const args = `--abi 5 --ranks 3 --channels 1 --iterations 8 --ops ${ops},sleep:20ms`;
    // No steps. Later releases tell a broadcast as a call only.
    const settings = { NCCL_TRACE_EVENTS: 'Coll,ProxyOp', NCCL_TRACE_RING_MB: '1' };
    const recording = await keptJob(`clocks-${name.replaceAll(' ', '-')}`, folder, args, settings);
    const collectives = skewRun(recording, join(folder, `${name}-skewed`), drawSkews(3, 3, 2e9));
    const solved = solveFiles(collectives.files, stepFolder());
    expect(solved.traffic?.evidence.counts.pairs).toBe(0);
    expect(solved.traffic?.alignment.culprits).toEqual([]);
    const checks = checkRun(collectives, solved);
    expect(checks).toHaveLength(21 * 3);
    for (const { insideHard } of checks) expect(insideHard).toBe(true);
    for (const { source, evidence } of reportClocks(solved, solved.run)) {
      expect(source).toBe('traffic');
      expect(evidence.collective).toBeGreaterThan(0);
    }
  });

  it('are not put on one clock by a Broadcast alone: nothing comes back', async () => {
    const args = '--abi 5 --ranks 2 --channels 1 --iterations 5 --ops broadcast:32K,sleep:20ms';
    const settings = { NCCL_TRACE_EVENTS: 'Coll,ProxyOp', NCCL_TRACE_RING_MB: '1' };
    const recording = await keptJob('clocks-one-way', folder, args, settings);
    const oneWay = skewRun(recording, join(folder, 'one-way-skewed'), drawSkews(3, 2, 2e9));
    const solved = solveFiles(oneWay.files, stepFolder());
    expect(solved.traffic?.evidence.collectives().length).toBeGreaterThan(0);
    const clocks = reportClocks(solved, solved.run);
    for (const { source, hardBound } of clocks) expect([source, hardBound]).toEqual(['realtime', null]);
    // But rank 1 was done after rank 0 had begun: it is shown too late by no more than that lies apart.
    const { host, late, early } = clocks[1]!.oneSided!;
    expect([host, early]).toEqual(['node000', null]);
    // Outside the evidence clocks drift on, by less than a millisecond in this second.
    for (const error of placedErrors(oneWay, solved, 1)) expect(error).toBeLessThan(late! + 1e6);
    const said = clockTable({ clocks, traffic: reportTraffic(solved) });
    expect(said).toMatch(
      /clocks: node001 against node000: at (most|least) .* us (early|late), by messages one way/,
    );
  });
});

describe('the trace of several hosts', () => {
  it('has an arrow for every transfer, and none points backwards', async () => {
    const output = join(folder, 'hosts.pftrace');
    const report = await merge({ inputs: skewed.files, output, jobs: 1 });
    const single = await merge({ inputs: [source], output: join(folder, 'host.pftrace'), jobs: 1 });
    expect(report.trace.flows).toBe(single.trace.flows);
    expect(report.traffic).toMatchObject({ leftOut: [], brokenArrows: { backwards: 0, mismatched: 0 } });
    expect(viewTrace(readFileSync(output), { emptySlices: 'fine' }).problems).toEqual([]);
  });

  it.each([
    ['records and operations', loseRecords],
    ['slots', loseSlots],
  ])('has no arrow that points backwards where %s are lost', async (name, lose) => {
    const lossy = skewRun(source, join(folder, `arrows ${name}`), skewed.skews);
    const random = seeded(7);
    for (const file of lossy.files) lose(file, 0.1, random);
    const output = join(folder, `arrows ${name}.pftrace`);
    const report = await merge({ inputs: lossy.files, output, jobs: 1 });
    expect(report.trace.flows).toBeGreaterThan(100);
    const { flows } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    const ends = flows.flatMap(({ from, to }) => {
      const send = [from, to].find((slice) => slice.name === 'peer wait');
      const receive = [from, to].find((slice) => slice.name === 'flush wait');
      return send && receive ? [{ left: send.ts + send.dur, arrived: receive.ts }] : [];
    });
    expect(ends.length).toBeGreaterThan(100);
    expect(ends.filter(({ left, arrived }) => arrived < left)).toEqual([]);
  });

  it('is the same in whatever order the files are named', async () => {
    const bytes = async (name: string, inputs: readonly string[]): Promise<Buffer> => {
      await merge({ inputs, output: join(folder, name), jobs: 1 });
      return readFileSync(join(folder, name));
    };
    const forth = await bytes('forth.pftrace', skewed.files);
    expect(forth.equals(await bytes('back.pftrace', [...skewed.files].reverse()))).toBe(true);
  });
});
