/**
 * `--redact`: replaces names of hosts, programs, jobs, communicators, threads, GPUs and files by aliases before anything is drawn or
 * printed. A name has the same alias in trace, report and summary. Aliases are numbered in the order of runs, ranks and
 * communicators, not of files or names. Ranks, pids, random ids, times and NCCL's own names stay.
 */

import { HIDDEN_PATH, sentenceText, type Sentence } from '../base/sentence.js';
import type { Communicator, Lease, RankFileHeader } from '../rankfile/file_types.js';
import { processKey, ranksOf, type FoundRun, type RunFile } from './runs.js';

/** Plain data: goes to the worker threads. By original. */
export interface Aliases {
  readonly paths: ReadonlyMap<string, string>;
  readonly hosts: ReadonlyMap<string, string>;
  readonly programs: ReadonlyMap<string, string>;
  readonly jobs: ReadonlyMap<string, string>;
  readonly comms: ReadonlyMap<string, string>;
  readonly threads: ReadonlyMap<string, string>;
  readonly gpus: ReadonlyMap<string, string>;
  /** Boot ids: random, but the same in all recordings of a host until it boots again. */
  readonly boots: ReadonlyMap<string, string>;
}

/** The parts of an open file that are replaced. */
interface Redactable {
  readonly path: string;
  readonly header: RankFileHeader;
  readonly communicators: ReadonlyMap<number, Communicator>;
  readonly strings: readonly (string | undefined)[];
  readonly leases: readonly Lease[];
}

/** `unreadable`: files of which only the path is known. */
export function makeAliases(
  runs: readonly FoundRun<RunFile & { readonly leases: readonly Lease[] }>[],
  unreadable: readonly string[],
): Aliases {
  const files = runs.flatMap((run) => [...run.files].sort(byRank));
  const headers = files.map(({ header }) => header);
  const comms = files.flatMap((file) => file.communicators.map(({ name }) => name));
  return {
    paths: numbered('file', [...files.map(({ path }) => path), ...unreadable], (path) => `${path}.bin`),
    hosts: numbered(
      'host',
      headers.flatMap(({ hostName, ncclHostId }) => [hostName, ncclHostId]),
    ),
    programs: numbered(
      'program',
      headers.map(({ program }) => program),
    ),
    jobs: numbered(
      'job',
      headers.map(({ runId }) => runId),
    ),
    comms: numbered('comm', comms),
    threads: numbered(
      'thread',
      files.flatMap(({ leases }) => leases.map(({ threadName }) => threadName)).filter(isForeign),
    ),
    gpus: numbered(
      'gpu',
      headers.map(({ gpu }) => gpu),
    ),
    boots: numbered(
      'boot',
      headers.map(({ process }) => process.bootId),
    ),
  };
}

/** NCCL's own threads: "NCCL Progress 0", "NCCL I/O Thr". Others are the user's, whatever they begin with. */
const isForeign = (name: string): boolean =>
  !/^NCCL (?:Progress|Service|UDS Servic|I\/O Thr|IbAsync|Sock|RAS)[ \w]{0,8}$/.test(name);

function byRank(a: RunFile, b: RunFile): number {
  const [first = Infinity] = ranksOf(a);
  const [second = Infinity] = ranksOf(b);
  if (first !== second) return first - second;
  const [one, other] = [processKey(a), processKey(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function numbered(
  prefix: string,
  names: readonly string[],
  spell: (alias: string) => string = (alias) => alias,
): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)].filter((name) => name !== '');
  return new Map(distinct.map((name, i) => [name, spell(`${prefix}-${i + 1}`)]));
}

/** A name that appeared after the aliases were made (a live file) is hidden altogether. */
const alias = (aliases: ReadonlyMap<string, string>, name: string): string =>
  name === '' ? '' : (aliases.get(name) ?? 'redacted');

export function redactFile<T extends Redactable>(file: T, aliases: Aliases): T {
  return {
    ...file,
    path: alias(aliases.paths, file.path),
    header: redactBoot(redactHeader(file.header, aliases), aliases),
    communicators: new Map(
      [...file.communicators].map(([number, comm]) => [number, redactComm(comm, aliases)]),
    ),
    strings: file.strings.map((text) => (text === undefined ? text : hidden.string(text, aliases))),
    leases: file.leases.map((lease) => ({ ...lease, threadName: hidden.thread(lease.threadName, aliases) })),
  };
}

/** The texts of a file's tables. */
export const hidden = {
  comm: (name: string, { comms }: Aliases): string => alias(comms, name),
  string: (text: string, { comms }: Aliases): string => comms.get(text) ?? text,
  thread: (name: string, { threads }: Aliases): string => (isForeign(name) ? alias(threads, name) : name),
};

/**
 * Replaces the names in a file's facts, also in what the first pass found. Boot ids stay: clocks and runs need them, and they are never
 * printed.
 */
export function redactFacts<T extends RunFile>(file: T, aliases: Aliases): T {
  return {
    ...file,
    path: alias(aliases.paths, file.path),
    header: redactHeader(file.header, aliases),
    communicators: file.communicators.map((comm) => redactComm(comm, aliases)),
  };
}

export function redactRun<T extends RunFile>(run: FoundRun<T>, aliases: Aliases): FoundRun<T> {
  const id = alias(aliases.jobs, run.id);
  return {
    ...run,
    id,
    name: id + run.name.slice(run.id.length),
    files: run.files.map((file) => redactFacts(file, aliases)),
  };
}

/** A sentence as text. A path that is no file of the run (a folder, a broken link) has no alias. */
export const said = (sentence: Sentence, aliases: Aliases | null): string =>
  aliases === null
    ? sentenceText(sentence)
    : sentenceText(sentence, (path) => aliases.paths.get(path) ?? HIDDEN_PATH);

const redactComm = (comm: Communicator, aliases: Aliases): Communicator => ({
  ...comm,
  name: hidden.comm(comm.name, aliases),
});

const redactBoot = (header: RankFileHeader, { boots }: Aliases): RankFileHeader => ({
  ...header,
  process: { ...header.process, bootId: alias(boots, header.process.bootId) },
});

/** Settings contain paths, such as the folder of the rings. */
const redactHeader = (header: RankFileHeader, aliases: Aliases): RankFileHeader => ({
  ...header,
  hostName: alias(aliases.hosts, header.hostName),
  ncclHostId: alias(aliases.hosts, header.ncclHostId),
  program: alias(aliases.programs, header.program),
  runId: alias(aliases.jobs, header.runId),
  gpu: alias(aliases.gpus, header.gpu),
  ringPath: header.ringPath === '' ? '' : 'redacted',
  options: header.options === '' ? '' : 'redacted',
});
