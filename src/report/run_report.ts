/**
 * The whole report of a run as plain data (schemas/report.md), for `report --json`, the page, the text for tickets and the tables. The
 * verdict is that of `--summary`; the numbers are from src/analysis.
 */

import { readFileSync } from 'node:fs';
import type { CollectiveRow } from '../analysis/collectives.js';
import type { RunNumbers } from '../analysis/run_numbers.js';
import { projectFile } from '../base/project.js';
import { reportsSizes } from '../cluster/connections.js';
import type { ExposedStep } from '../foreign/beside/training_steps.js';
import type { Study } from '../study/study.js';
import { slowLinkOf, suspectsOf } from '../verdict/facts/suspects.js';
import type { Diagnosis } from './diagnosis.js';
import { headline } from './headline.js';
import { verdictText } from './verdict_text.js';

/** The verdict's files are indices into `ranks`, its times ns after `run.traceStart`. */
export type RunReport = Readonly<ReturnType<typeof runReport>>;

/** One file: a process, which may be several ranks. */
export type RankRow = Readonly<ReturnType<typeof rankRows>[number]>;

const MOST_COLLECTIVES = 400;

/** A verdict of a hang or of slowness already says this. But more may be known about a slow link. */
function slowedText({ verdict }: Study, { causes: all }: RunNumbers): string {
  const fault = slowLinkOf(verdict)?.fault;
  if (fault?.what === 'starved proxy thread') return '; by its proxy thread';
  if (fault?.what === 'slow NIC') return '; by its NIC';
  const causes = all.filter(({ rule }) => rule !== 'uneven AlltoAll');
  if (verdict.kind !== 'healthy' || causes.length === 0) return '';
  return causes.length === 1 ? '; one cause slows it down' : `; ${causes.length} causes slow it down`;
}

/** What the files of `--with` say. */
export interface Beside {
  readonly steps: readonly ExposedStep[];
  /** Sentences: files that were refused, and why. */
  readonly refused: readonly string[];
}

export const NOTHING_BESIDE: Beside = { steps: [], refused: [] };

/** `options`: as given. */
export function runReport(
  studied: Study,
  diagnosis: Diagnosis,
  options: string,
  numbers: RunNumbers,
  { steps, refused }: Beside = NOTHING_BESIDE,
) {
  const { run, records } = studied;
  const { problems, ...about } = diagnosis;
  const { verdict, communicators, causes, flightRecorder, clocks, traffic } = diagnosis;
  const { groups, allToAlls, lateness, picture, waits, links, pairs, slowLinks } = numbers;
  return {
    version: 3 as const,
    headline: `${headline(about)}${slowedText(studied, numbers)}`,
    /** The verdict for people, as `inspect` prints it. */
    lines: verdictText({ ...about, causes: [] }), // they follow in full
    /** The command that shows what the verdict points to; null: nothing. */
    next: diagnosis.suggestion?.command ?? null,
    run: {
      /** ns since the Unix epoch, decimal. */
      traceStart: diagnosis.traceStart,
      durationNs: Math.round(numbers.durationNs),
      worldSize: run.worldSize,
      missingRanks: run.missing,
      records,
      hosts: new Set(run.members.map(({ scan }) => scan.header.hostName)).size,
    },
    /** By file. */
    ranks: rankRows(studied, diagnosis, numbers),
    ...{ groups, allToAlls, lateness, picture, waits, links, pairs, slowLinks },
    /** `shown`: the unfinished and the longest, at most MOST_COLLECTIVES, in order of time. `nccl-trace collectives` prints all. */
    collectives: { total: numbers.collectives.length, shown: shownCollectives(numbers.collectives) },
    ...{ verdict, communicators, causes, flightRecorder, clocks, traffic },
    trainingSteps: steps,
    unusable: [...diagnosis.unusable, ...refused],
    problems: [...problems, ...refused],
    made: {
      by: `nccl-trace ${ownVersion()}`,
      /** The options given that change the findings, ready to type. */
      options,
      files: run.members.map(({ scan }) => ({
        path: scan.path,
        bytes: scan.bytes,
        recorder: recorderOf(scan.header),
        nccl: scan.header.ncclVersion,
      })),
    },
  };
}

/** The recorder's version, and the other profiler plugins that it called: the last of its settings. */
export function recorderOf({
  recorderVersion,
  options,
}: {
  recorderVersion: string;
  options: string;
}): string {
  const chain = / NCCL_TRACE_CHAIN=(.+)$/.exec(options)?.[1];
  return chain === undefined ? recorderVersion : `${recorderVersion} with ${chain}`;
}

function rankRows(
  { run, verdict }: Study,
  { ranks: diagnosed }: Diagnosis,
  { ranks, lateness, rankWaits }: RunNumbers,
) {
  const labels = new Map(suspectsOf(verdict).map(({ file, label }) => [file, label]));
  return run.members.map(({ scan }, file) => {
    const { header, transfers } = scan;
    const late = lateness.files[file]!;
    const { host, localRank, life, lost, problems } = diagnosed[file]!;
    const isSized = scan.communicators.every(reportsSizes);
    const moved = (isSend: boolean): number | null =>
      isSized
        ? transfers.ends.reduce((sum, end) => (end.isSend === isSend ? sum + end.bytes : sum), 0)
        : null;
    return {
      rank: ranks[file] ?? null,
      ...{ host, localRank, pid: header.process.pid, file: scan.path },
      /** What the verdict holds against it. */
      label: labels.get(file) ?? null,
      life,
      records: scan.records,
      lostSlots: Object.values(lost).reduce((sum, slots) => sum + slots, 0),
      /** Collectives with known lateness. */
      collectives: late.collectives,
      /** After the first arrival. */
      meanLateNs: late.meanNs,
      lastIn: late.last,
      /** Time that all others waited for it alone. */
      aloneNs: late.aloneNs,
      bytesSent: moved(true),
      bytesReceived: moved(false),
      waits: rankWaits[file]!.all,
      waitsByFunc: rankWaits[file]!.byFunc,
      problems,
    };
  });
}

function shownCollectives(rows: readonly CollectiveRow[]): CollectiveRow[] {
  if (rows.length <= MOST_COLLECTIVES) return [...rows];
  const order = [...rows].sort(
    (a, b) =>
      Number(a.outcome === 'complete') - Number(b.outcome === 'complete') ||
      (b.durationNs ?? 0) - (a.durationNs ?? 0),
  );
  return order.slice(0, MOST_COLLECTIVES).sort((a, b) => a.startNs - b.startNs);
}

function ownVersion(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
