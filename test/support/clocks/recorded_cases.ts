/**
 * The cases of `npm run bench:clocks` on recordings: real traffic of the loopback on one machine. Then each rank gets a
 * clock of its own (skew.ts). Each recording is one independent sample of delays.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from '../jobs/loopback.js';
import { summarizeChecks, type CaseResult } from './clock_cases.js';
import { median, seeded, type Check } from './simulated_links.js';
import { loseRecords, loseSlots } from './skew.js';
import {
  checkRun,
  drawSkews,
  leastDelays,
  skewRun,
  solveFiles,
  type SkewedRun,
  type SolvedRun,
} from './skewed_run.js';

export interface RecordedOptions {
  readonly recordings: number;
  /** Iterations of the ring's workload. On two busy cores one takes 3 s with the 64 MiB, and 0.3 s without. */
  readonly iterations: number;
  readonly ops: string;
  /** Folder that keeps the recordings, one folder each. Existing ones are not recorded again. null: they are deleted. */
  readonly keep: string | null;
  readonly print: (line: string) => void;
}

export const RING_OPS = 'allreduce:32K*4,allreduce:256K*2,allreduce:4M,allreduce:64M,sleep:100ms';
const HOSTS = 8;
/** Any frequency will do. Offsets are drawn in its ticks. */
const HZ = 2e9;

/** Two ranks that send to each other. They take little time compared with the ring. */
const PAIRS = [
  {
    name: '2 hosts, send and receive, up to 64 KiB',
    folder: 'pair-small',
    ops: 'group{send+recv:4K}*4,group{send+recv:32K}*4,group{send+recv:64K}*2,sleep:100ms',
  },
  {
    name: '2 hosts, send and receive, 4 MiB only',
    folder: 'pair-large',
    ops: 'group{send+recv:4M}*4,sleep:100ms',
  },
];

/** Recordings per recording of pairs, because pairs take two minutes and their figures differ little. */
const PAIRS_EVERY = 4;

type Note = (name: string, run: SkewedRun, solved: SolvedRun, also?: string) => void;

/** All rows of the table for a ring of 8 hosts, on the same recordings, and the rows for two hosts. */
export async function recordedCases({
  recordings,
  iterations,
  ops,
  keep,
  print,
}: RecordedOptions): Promise<CaseResult[]> {
  const cases = new Map<string, { checks: Check[]; medians: number[]; notes: string[]; culprits: number }>();
  const note: Note = (name, run, solved, also = '') => {
    const entry = cases.get(name) ?? { checks: [], medians: [], notes: [], culprits: 0 };
    cases.set(name, entry);
    const checks = checkRun(run, solved);
    entry.checks.push(...checks);
    entry.medians.push(median(checks.map(({ error }) => Math.abs(error))));
    entry.culprits += solved.traffic?.alignment.culprits.length ?? 0;
    const { pairs, ...dropped } = solved.traffic!.evidence.counts;
    const lost = Object.values(dropped).reduce((a, b) => a + b, 0);
    const backwards = [...solved.broken.backwards.values()].reduce((a, b) => a + b, 0);
    entry.notes.push(`${pairs} pairs, ${lost} dropped, ${backwards} violations${also}`);
    const { figures } = summarizeChecks(checks, 1, 0, entry.notes.at(-1)!);
    print(`  ${name}, recording ${entry.medians.length}: ${figures}`);
  };
  for (let i = 0; i < recordings; i++) {
    const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-bench-'));
    try {
      const kept = keep === null ? folder : join(keep, `recording${i}`);
      const ring = `--ranks ${HOSTS} --channels 1 --iterations ${iterations} --timeout 600 --ops ${ops}`;
      const { source, load } = await recorded(join(kept, 'ring'), ring);
      oneRecording(source, folder, i, load, note);
      for (const pair of i % PAIRS_EVERY === 0 ? PAIRS : []) {
        // The sleeps make it a minute long.
        const args = `--ranks 2 --channels 1 --iterations ${iterations * 6} --timeout 600 --ops ${pair.ops}`;
        const { source: own } = await recorded(join(kept, pair.folder), args);
        const run = skewRun(own, join(folder, pair.folder), drawSkews(i + 1, 2, HZ));
        note(pair.name, run, solveFiles(run.files, join(folder, `steps-${pair.folder}`)));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return [...cases].map(([name, { checks, medians, culprits }]) => ({
    name: `recorded: ${name}`,
    ...summarizeChecks(
      checks,
      medians.length,
      culprits,
      `worst recording's median ${us(Math.max(...medians))} us`,
    ),
  }));
}

/** Makes a recording unless `folder` has one. `load`: the load average at its end. */
async function recorded(folder: string, args: string): Promise<{ source: string; load: string }> {
  const note = join(folder, 'load-average');
  if (!existsSync(note)) {
    // A benchmark that was stopped may have left half a recording.
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await record(folder, args, { NCCL_TRACE_RING_MB: '16' });
    writeFileSync(note, loadavg()[0]!.toFixed(1));
  }
  return { source: join(folder, 'recording'), load: readFileSync(note, 'utf8') };
}

export function oneRecording(source: string, folder: string, seed: number, load: string, note: Note): void {
  const skews = drawSkews(seed + 1, HOSTS, HZ);
  const plain = skewRun(source, join(folder, 'plain'), skews);
  const solved = solveFiles(plain.files, join(folder, 'steps'));
  note('ring of 8', plain, solved, `, ${machine(leastDelays(plain, solved), load)}`);

  // Half of the hosts are stepped by 1 s in mid-run and slewed by 500 ppm: relative times must not follow.
  const restless = skews.map((skew, host) =>
    host % 2 === 0 ? skew : { ...skew, wallError: (ns: number) => ns * 500e-6 + (ns > 2e9 ? 1e9 : 0) },
  );
  const stepped = skewRun(source, join(folder, 'stepped'), restless);
  const steppedSolved = solveFiles(stepped.files, join(folder, 'steps-stepped'));
  const changes = changeOfErrors(checkRun(plain, solved), checkRun(stepped, steppedSolved));
  const flagged = steppedSolved.solution.domains.filter(({ map }) =>
    map.segments.some(({ flags }) => flags.includes('realtime-stepped')),
  ).length;
  note(
    'wall clocks stepped 1 s and slewed 500 ppm',
    stepped,
    steppedSolved,
    `, offsets change by ${us(changes)} us at most, ${flagged} hosts flagged`,
  );

  for (const [name, lose] of [
    ['5 % of records and of operations lost', loseRecords],
    ['5 % of slots lost', loseSlots],
  ] as const) {
    const lossy = skewRun(source, join(folder, name), skews);
    const random = seeded(seed + 1);
    for (const file of lossy.files) lose(file, 0.05, random);
    note(name, lossy, solveFiles(lossy.files, join(folder, `steps-${name}`)));
  }

  const missing = plain.files.filter((_, rank) => rank !== 3);
  const partly = solveFiles(missing, join(folder, 'steps-missing'));
  note('one file missing', plain, partly);

  // Two hosts that exchange nothing with each other. Their boot id is the same, and their counters are 5 ms apart.
  const [one, other] = [skews[2]!, skews[5]!];
  const clone = { ...one, hostName: other.hostName, offsetTicks: one.offsetTicks + 5e-3 * HZ };
  const clones = skewRun(
    source,
    join(folder, 'clones'),
    skews.map((skew) => (skew === other ? clone : skew)),
  );
  note('two hosts are clones, 5 ms apart', clones, solveFiles(clones.files, join(folder, 'steps-clones')));
}

/** How far the busy machine made similar links differ. */
function machine(least: readonly number[], load: string): string {
  const mean = least.reduce((sum, delay) => sum + delay, 0) / least.length;
  const spread = Math.sqrt(least.reduce((sum, delay) => sum + (delay - mean) ** 2, 0) / (least.length - 1));
  return (
    `true least delays ${us(mean)} us, relative spread ${(spread / mean).toFixed(2)}, ` +
    `load average ${load}`
  );
}

/** Largest difference of two lists of checks of the same pairs at the same instants, ns. */
function changeOfErrors(a: readonly Check[], b: readonly Check[]): number {
  return a.reduce((worst, check, i) => Math.max(worst, Math.abs(check.error - (b[i]?.error ?? NaN))), 0);
}

const us = (ns: number): string => (ns / 1e3).toFixed(2);
