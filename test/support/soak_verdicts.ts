/** Records drawn jobs and lets the verdict be passed on what they left. */

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { diagnose, type Diagnosis } from '../../src/report/diagnosis.js';
import { standstillOf } from '../../src/verdict/evidence/suspects.js';
import type { Slowness, Verdict } from '../../src/verdict/types.js';
import { record } from './loopback.js';
import type { FaultyJob, Job } from './random_jobs.js';
import type { TaskTruth } from './truth.js';
import { drawSkews, skewRun } from './skewed_run.js';

/** Any will do: offsets are drawn in ticks of it. */
const HZ = 2e9;

export interface Judged {
  readonly code: number;
  readonly diagnosis: Diagnosis;
  /** Of a slow verdict: whether the ranks' own account says the same. On a busy machine a rank really may be slow. */
  readonly isTrulySlow: boolean;
}

/** `folder` is emptied again. `without`: the file of this rank is lost. */
export async function judgeJob(job: Job, folder: string, seed: number, without?: number): Promise<Judged> {
  mkdirSync(folder, { recursive: true });
  try {
    const { folder: recording, truth, code } = await record(folder, job.words, job.settings);
    let files = readdirSync(recording, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.bin'))
      .sort()
      .map((name) => join(recording, name));
    if (job.hosts)
      files = [...skewRun(recording, join(folder, 'hosts'), drawSkews(seed + 1, files.length, HZ)).files];
    const diagnosis = await diagnose(
      files.filter((_, rank) => rank !== without),
      // They hang for seconds only, and whether a rank still lives depends on when its file is read.
      { hungAfter: 1 },
    );
    const { verdict } = diagnosis;
    const isTrulySlow = verdict.kind === 'slow' && isLateInTruth(truth, verdict.slow, diagnosis);
    return { code, diagnosis, isTrulySlow };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Half of what all waited for it alone, and most of the times: the ranks know when they called, not when the plugin was told. */
function isLateInTruth(truth: string, { file, cost, late, commId }: Slowness, { ranks }: Diagnosis): boolean {
  const calls = new Map<string, { rank: number; at: number }[]>();
  for (const name of readdirSync(truth)) {
    const rank = Number(/\d+/.exec(name)?.[0]);
    for (const line of readFileSync(join(truth, name), 'utf8').split('\n')) {
      if (line === '') continue;
      const { kind, comm, func, seq, graph, replay, startNs } = JSON.parse(line) as TaskTruth & {
        replay?: number;
      };
      if (kind !== 'coll' || graph === 'captured' || BigInt(comm) !== BigInt(commId)) continue;
      const key = `${func} ${seq} ${replay ?? 0}`;
      calls.set(key, [...(calls.get(key) ?? []), { rank, at: startNs }]);
    }
  }
  const waits = [...calls.values()].flatMap((ranksCalls) => {
    const [last, second] = ranksCalls.sort((a, b) => b.at - a.at);
    return last && second && last.rank === ranks[file]!.rank ? [last.at - second.at] : [];
  });
  return waits.reduce((a, b) => a + b, 0) >= cost / 2 && waits.length >= late * 0.7;
}

/** How well a verdict names the one whose fault it is. */
export type Naming = 'named' | 'not named' | 'not seen';

export function namingOf({ culprit, fault }: FaultyJob, { verdict, ranks, missingRanks }: Diagnosis): Naming {
  const named = namedFiles(verdict).map((file) => ranks[file]!.rank);
  if (['healthy', 'working', 'nothing'].includes(verdict.kind)) return 'not seen';
  if (fault === 'lost file') return missingRanks.includes(culprit) ? 'named' : 'not named';
  return named.includes(culprit) ? 'named' : 'not named';
}

/** The ranks that a verdict points at: not those that only wait. */
export function namedFiles(verdict: Verdict): number[] {
  if (verdict.kind === 'slow') return [verdict.slow.file];
  if (verdict.kind === 'mismatch')
    return verdict.mismatch.ways.slice(1).flatMap(({ entered }) => entered.map(({ file }) => file));
  const standstill = standstillOf(verdict);
  if (!standstill) return [];
  const { neverEntered, different, silent, front } = standstill;
  const ends = front === null ? [] : [front.file, ...(front.peerFile === null ? [] : [front.peerFile])];
  return [...neverEntered.map(({ file }) => file), ...silent.map(({ file }) => file), ...different, ...ends];
}
