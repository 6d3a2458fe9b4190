/**
 * The whole report of a run as plain data (schemas/report.md), for `report --json`, the page, the text for tickets and the tables. The
 * verdict is that of `--summary`; the numbers are from src/analysis.
 */

import { readFileSync } from 'node:fs';
import type { Cause } from '../analysis/causes.js';
import type { CollectiveRow } from '../analysis/collectives.js';
import type { RankLabel } from '../analysis/rank_labels.js';
import type { RunNumbers } from '../analysis/run_numbers.js';
import type { WaitTimes } from '../analysis/rank_waits.js';
import type { RunCommunicator } from '../runs/communicators.js';
import { projectFile } from '../base/project.js';
import type { Study } from '../study/study.js';
import type { SuspectLabel } from '../base/suspect_labels.js';
import { suspectsOf } from '../verdict/facts/suspects.js';
import type { Diagnosis } from './diagnosis.js';
import { findingLines } from './finding_text.js';
import { headline } from './headline.js';
import { verdictText } from './verdict_text.js';

/** What a row's communicator is called. */
export const commName = ({ comm, commId }: { readonly comm: string; readonly commId: string }): string =>
  comm || commId;

type Numbers = Pick<
  RunNumbers,
  'groups' | 'allToAlls' | 'lateness' | 'picture' | 'waits' | 'links' | 'pairs' | 'slowLinks'
>;
type Said = Pick<
  Diagnosis,
  'verdict' | 'causes' | 'flightRecorder' | 'clocks' | 'traffic' | 'unusable' | 'problems'
>;

/** The verdict's files are indices into `ranks`, its times ns after `run.traceStart`. */
export interface RunReport extends Numbers, Said {
  readonly version: 2;
  readonly headline: string;
  /** The verdict for people, as `inspect` prints it. */
  readonly lines: readonly string[];
  /** Each of the verdict's findings in one line. */
  readonly findings: readonly string[];
  /** The command that shows what the verdict points to; null: nothing. */
  readonly next: string | null;
  readonly run: {
    /** ns since the Unix epoch, decimal. */
    readonly traceStart: string;
    readonly durationNs: number;
    readonly worldSize: number;
    readonly missingRanks: readonly number[];
    readonly records: number;
    readonly hosts: number;
  };
  /** By file. */
  readonly ranks: readonly RankRow[];
  readonly collectives: {
    readonly total: number;
    /** The unfinished and the longest collectives, at most MOST_COLLECTIVES, in order of time. `nccl-trace collectives` prints all. */
    readonly shown: readonly CollectiveRow[];
  };
  /** `label`: its name in tables and pages, which no other communicator has. */
  readonly communicators: readonly RunCommunicator[];
  readonly made: {
    readonly by: string;
    /** The options given that change the findings, ready to type. */
    readonly options: string;
    readonly files: readonly { readonly path: string; readonly bytes: number; readonly recorder: string }[];
  };
}

/** One file: a process, which may be several ranks. */
export interface RankRow {
  readonly rank: RankLabel;
  readonly host: string;
  readonly localRank: number | null;
  readonly pid: number;
  readonly file: string;
  /** What the verdict holds against it. */
  readonly label: SuspectLabel | null;
  readonly life: string;
  readonly records: number;
  readonly lostSlots: number;
  /** Collectives with known lateness. */
  readonly collectives: number;
  /** After the first arrival. */
  readonly meanLateNs: number | null;
  readonly lastIn: number;
  /** Time that all others waited for it alone. */
  readonly aloneNs: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly waits: WaitTimes;
  readonly waitsByFunc: readonly { readonly func: string; readonly times: WaitTimes }[];
  readonly problems: readonly string[];
}

const MOST_COLLECTIVES = 400;

/** A verdict of a hang or of slowness already says this. But the causes may know more about a slow link. */
function slowedText({ verdict }: Study, { causes: all, ranks }: RunNumbers): string {
  const causes = all.filter(({ cause }) => cause !== 'uneven AlltoAll');
  if (verdict.kind === 'slow' && verdict.slow.on === 'link') {
    const rank = ranks[verdict.slow.file]!;
    const isBehind = (cause: Cause['cause']): boolean =>
      causes.some((one) => one.cause === cause && 'rank' in one && one.rank === rank);
    if (isBehind('starved proxy thread')) return '; by its proxy thread';
    return isBehind('slow NIC') ? '; by its NIC' : '';
  }
  if (verdict.kind !== 'healthy' || causes.length === 0) return '';
  return causes.length === 1 ? '; one cause slows it down' : `; ${causes.length} causes slow it down`;
}

/** `options`: as given. */
export function runReport(
  studied: Study,
  diagnosis: Diagnosis,
  options: string,
  numbers: RunNumbers,
): RunReport {
  const { run, verdict, records } = studied;
  const { problems, ...about } = diagnosis;
  return {
    version: 2,
    headline: `${headline(about)}${slowedText(studied, numbers)}`,
    lines: verdictText({ ...about, causes: [] }), // they follow in full
    findings: findingLines(about),
    verdict,
    next: diagnosis.suggestion?.command ?? null,
    run: {
      traceStart: diagnosis.traceStart,
      durationNs: Math.round(numbers.durationNs),
      worldSize: run.worldSize,
      missingRanks: run.missing,
      records,
      hosts: new Set(run.members.map(({ scan }) => scan.header.hostName)).size,
    },
    ranks: rankRows(studied, diagnosis, numbers),
    groups: numbers.groups,
    collectives: { total: numbers.collectives.length, shown: shownCollectives(numbers.collectives) },
    communicators: diagnosis.communicators,
    allToAlls: numbers.allToAlls,
    lateness: numbers.lateness,
    picture: numbers.picture,
    waits: numbers.waits,
    links: numbers.links,
    pairs: numbers.pairs,
    slowLinks: numbers.slowLinks,
    causes: diagnosis.causes,
    flightRecorder: diagnosis.flightRecorder,
    clocks: diagnosis.clocks,
    traffic: diagnosis.traffic,
    unusable: diagnosis.unusable,
    problems,
    made: {
      by: `nccl-trace ${ownVersion()}`,
      options,
      files: run.members.map(({ scan }) => ({
        path: scan.path,
        bytes: scan.bytes,
        recorder: recorderOf(scan.header),
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
): RankRow[] {
  const labels = new Map(suspectsOf(verdict).map(({ file, label }) => [file, label]));
  return run.members.map(({ scan }, file) => {
    const { header, transfers } = scan;
    const late = lateness.files[file]!;
    const { host, localRank, life, lost, problems } = diagnosed[file]!;
    const moved = (isSend: boolean): number =>
      transfers.ends.reduce((sum, end) => (end.isSend === isSend ? sum + end.bytes : sum), 0);
    return {
      rank: ranks[file]!,
      ...{ host, localRank, pid: header.process.pid, file: scan.path },
      label: labels.get(file) ?? null,
      life,
      records: scan.records,
      lostSlots: Object.values(lost).reduce((sum, slots) => sum + slots, 0),
      collectives: late.collectives,
      meanLateNs: late.meanNs,
      lastIn: late.last,
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
