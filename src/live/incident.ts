/**
 * What is taken once, when a job hangs or breaks off, because the scheduler may end the job soon: what the kernel knows of the suspects,
 * their stacks, a snapshot of the rank files of this node, and the verdict. All of it lies in one folder, which `inspect` and `report` take.
 * Each step has limits, and one that fails leaves the others alone.
 */

import { mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, reason } from '../base/reason.js';
import { RankFileError } from '../base/errors.js';
import type { HeldFolder } from '../output/held_folder.js';
import { isOfThisBoot, isWrittenBy, takeSnapshot } from '../rankfile/index.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { allRanks } from '../report/verdict_phrases.js';
import type { Alarm } from './alarm.js';
import type { Member } from './follow.js';
import { processFacts, type ProcessFacts } from './process_facts.js';
import { hasFrames, stacksOf, type Stacks } from './stacks.js';

export const INCIDENT_FILE = 'incident.json';

export interface IncidentOptions {
  readonly snapshot: boolean;
  readonly stacks: 'auto' | 'gdb' | 'off';
  /** Folders above ring files, such as /dev/shm. */
  readonly ringBases: readonly string[];
  /** What NCCL's RAS is asked at the same time: by name of the file, its answer, which may fail. */
  readonly ras?: ReadonlyMap<string, () => Promise<string>> | undefined;
}

/** A process of this node to look at. */
export interface SuspectProcess {
  readonly ranks: readonly (number | null)[];
  /** The name of its rank file. */
  readonly file: string;
  /** null: it has ended, or `why`. */
  readonly process: ProcessFacts | null;
  /** Why nothing was taken of it. */
  readonly why: string | null;
  /** null: not asked for, or no debugger is here. */
  readonly stacks: Stacks | null;
}

export interface Incident {
  readonly version: 1;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly kind: Alarm['kind'];
  readonly headline: string;
  readonly ranks: string;
  readonly suspects: readonly SuspectProcess[];
  /** Names of the files that were copied, and what could not be taken. */
  readonly files: readonly string[];
  /** Names of the files with RAS' answers; empty: it was not asked, or did not answer. */
  readonly ras: readonly string[];
  readonly missing: readonly string[];
}

/** The incident in one of these folders. null: there is none, or its file is not whole. */
export function readIncident(folders: Iterable<string>): Incident | null {
  for (const folder of folders) {
    try {
      const found = JSON.parse(readFileSync(path.join(folder, INCIDENT_FILE), 'utf8')) as unknown;
      if (isIncident(found)) return found;
    } catch (error) {
      if (codeOf(error) === '' && !(error instanceof SyntaxError)) throw error;
    }
  }
  return null;
}

/** Whether it has what a page shows. */
function isIncident(value: unknown): value is Incident {
  if (!isObject(value) || value.version !== 1 || typeof value.at !== 'string') return false;
  return isListOf(
    value.suspects,
    ({ ranks, process, stacks }) =>
      Array.isArray(ranks) &&
      ranks.every((rank) => rank === null || typeof rank === 'number') &&
      (process === null || (isObject(process) && isListOf(process.threads, hasThread))) &&
      (stacks === null || (isObject(stacks) && typeof stacks.text === 'string')),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isListOf = (list: unknown, fits: (one: Readonly<Record<string, unknown>>) => boolean): boolean =>
  Array.isArray(list) && list.every((one) => isObject(one) && fits(one));
const hasThread = ({ cpuSeconds, cpuShare }: Readonly<Record<string, unknown>>): boolean =>
  typeof cpuSeconds === 'number' && typeof cpuShare === 'number';

/** If nobody is suspect, any of the waiting processes shows where it waits. */
const MOST_SUSPECTS = 8;
/** ms for all copies together. The one under way is finished. */
const COPY_FOR = 60_000;

/** Puts all of it into the folder (`newIncident`). */
export async function takeIncident(
  folder: HeldFolder,
  at: Date,
  alarm: Alarm,
  found: Diagnosis,
  members: readonly Member[],
  { snapshot, stacks, ringBases, ras = new Map() }: IncidentOptions,
): Promise<Incident> {
  // At once: it says how the job is now.
  const asking = Promise.all([...ras].map(([name, ask]) => answerInto(folder, name, ask)));
  const here = members.filter(({ header }) => isOfThisBoot(header.process));
  const names = namesOf(here);
  const missing: string[] = [];
  const accused = alarm.files.map((file) => found.ranks[file]!.file);
  // This process sees those of its own container.
  const seen = here.filter(({ process }) => process !== 'unknown');
  const some = alarm.files.length === 0 ? seen.map((member) => member.path) : accused;
  const chosen = some
    .flatMap((file) => seen.find((member) => member.path === file) ?? [])
    .slice(0, MOST_SUSPECTS);
  const suspects = await Promise.all(
    chosen.map(async (member) => {
      const { path: file, header, process } = member;
      const why = process === 'gone' ? null : whyNotOfJob(member);
      return {
        ranks: allRanks(found.ranks.find((rank) => rank.file === file) ?? { rank: null }),
        file: names.get(file)!,
        process: process === 'gone' || why !== null ? null : await processFacts(header.process.pid),
        why,
        stacks: null as Stacks | null,
      };
    }),
  );
  for (const { file, why } of suspects) if (why !== null) missing.push(`${file}: ${why}`);
  // One after the other, so that at no time more than one process stands still because of it.
  for (const [i, member] of chosen.entries()) {
    const { file, process } = suspects[i]!;
    // Looked at again, because the others have taken their time.
    if (stacks === 'off' || process === null || whyNotOfJob(member) !== null) continue;
    const taken = (suspects[i]!.stacks = await stacksOf(member, stacks));
    if (taken !== null && !hasFrames(taken))
      missing.push(`${file}: its stacks: ${taken.by}: ${taken.why ?? 'gave none'}`);
  }
  const files = snapshot ? await copies(names, folder, ringBases, missing) : [];
  const answers = await asking;
  for (const { why } of answers) if (why !== null) missing.push(why);
  const { kind, headline, ranks } = alarm;
  const incident = {
    version: 1,
    at: at.toISOString(),
    kind,
    headline,
    ranks,
    suspects,
    files,
    ras: answers.flatMap(({ name, why }) => (why === null ? [name] : [])),
    missing,
  } as const;
  try {
    const text = `${JSON.stringify(incident, null, 1)}\n`;
    writeFileSync(folder.at(INCIDENT_FILE), text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) === '') throw error;
    missing.push(`${INCIDENT_FILE}: ${reason(error)}`);
  }
  return incident;
}

async function answerInto(
  folder: HeldFolder,
  name: string,
  ask: () => Promise<string>,
): Promise<{ readonly name: string; readonly why: string | null }> {
  try {
    const text = await ask();
    writeFileSync(folder.at(name), text, { flag: 'wx', mode: 0o600 });
    return { name, why: null };
  } catch (error) {
    return { name, why: `${name}: ${reason(error)}` };
  }
}

/** Nothing is taken of a process because a file has its pid: anybody can write a pid into a file. */
function whyNotOfJob(member: Member): string | null {
  const { pid } = member.header.process;
  const isWriter = isWrittenBy(pid, member);
  if (isWriter === true) return null;
  return isWriter === null
    ? `this user may not look at its process (pid ${pid})`
    : `it names a process that is not of this job (pid ${pid})`;
}

/** A new folder among the incidents. Nothing that is there is replaced. Throws the system's errors. */
export function newIncident(incidents: HeldFolder, at: Date, { kind }: Alarm): HeldFolder {
  const time = at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  // The watches of several nodes may write into one folder.
  const node = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_');
  const name = `${time}Z-${kind}-${node}`;
  for (let n = 1; ; n++) {
    const folder = n === 1 ? name : `${name}.${n}`;
    try {
      mkdirSync(incidents.at(folder), { mode: 0o700 });
      return incidents.folder(folder);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** By path: how a rank file is called in the incident. Two folders may have files of one name: rank00000.bin, rank00000.2.bin. */
function namesOf(members: readonly Member[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { path: file } of members) {
    const name = path.basename(file);
    let free = name;
    for (let n = 2; taken.has(free); n++) free = name.replace(/\.bin$/, `.${n}.bin`);
    taken.add(free);
    names.set(file, free);
  }
  return names;
}

async function copies(
  names: ReadonlyMap<string, string>,
  folder: HeldFolder,
  ringBases: readonly string[],
  missing: string[],
): Promise<string[]> {
  const bytes = [...names.keys()].reduce((sum, file) => sum + sizeOf(file), 0);
  const { bavail, bsize } = statfsSync(folder.at('.'));
  if (bavail * bsize < 2 * bytes) {
    missing.push('no copies of the rank files: they would take more than half of the space that is left');
    return [];
  }
  const until = performance.now() + COPY_FOR;
  const done: string[] = [];
  for (const [from, name] of names) {
    await pause(0); // a copy takes the whole thread
    if (performance.now() > until) {
      missing.push(`${name}: no time was left to copy it`);
      continue;
    }
    try {
      const { why } = takeSnapshot(from, folder.at(name), ringBases);
      done.push(name);
      if (why !== null) missing.push(`${name}: its newest records: ${why}`);
    } catch (error) {
      if (!(error instanceof RankFileError) && codeOf(error) === '') throw error;
      rmSync(folder.at(name), { force: true });
      missing.push(`${name}: ${error instanceof RankFileError ? error.what : reason(error)}`);
    }
  }
  return done;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
