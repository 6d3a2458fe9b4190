/** What of a verdict a person must hear of, and when it is another one than before. */

import { foldRanks } from '../base/ranks.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { headline } from '../report/headline.js';
import { sizeText } from '../report/text.js';
import { allRanks, callText, peerName } from '../report/verdict_phrases.js';
import { accused, stallOf } from '../verdict/facts/suspects.js';
import { whoOf } from '../verdict/finding.js';
import type { Verdict } from '../verdict/types.js';
import type { RankProgress } from './rank_progress.js';

export const ALARMS = ['hung', 'broken', 'mismatch', 'slow', 'unclear'] as const;
export type AlarmKind = (typeof ALARMS)[number];

export interface Alarm {
  readonly kind: AlarmKind;
  /** Files of the ranks to look at, by their numbers in the diagnosis; empty: nobody is known. */
  readonly files: readonly number[];
  /** Their ranks: "3,5". */
  readonly ranks: string;
  /** As `inspect` says it, in one line. */
  readonly headline: string;
}

/** ns: nothing at all was recorded for so long, though all ranks live. A checkpoint takes less. */
const LONG_IDLE = 300e9;

/** null: all is well, or may become so. */
export function alarmOf(found: Diagnosis): Alarm | null {
  const { verdict, ranks } = found;
  const kind = ALARMS.find((one) => one === verdict.kind);
  if (kind === undefined || !isForPeople(verdict)) return null;
  const others = awayText(found);
  const { files } = others === null ? whoOf(verdict) : { files: [] };
  return {
    kind,
    files,
    ranks: files.length === 0 ? '' : foldRanks(files.flatMap((file) => allRanks(ranks[file]!))),
    headline: others ?? headline(found),
  };
}

/**
 * A doubt is told if a process fell silent, or if the job has done nothing for longer than any job pauses. A job that was ended while it
 * worked, by its scheduler or by its user, is no news.
 */
function isForPeople(verdict: Verdict): boolean {
  const [first] = verdict.findings;
  if (first?.rule === 'job ended') return first.stands;
  if (verdict.kind !== 'unclear') return true;
  const { silent, idle } = verdict.unclear;
  return silent.some(({ mayBeCopy }) => !mayBeCopy) || (idle !== null && idle.age >= LONG_IDLE);
}

/**
 * On several nodes with disks of their own each has the files of its ranks only. False: this node has the rank to look at, or all files are
 * here.
 */
export function isAway({ verdict, missingRanks }: Diagnosis): boolean {
  const [first] = accused(verdict);
  return stallOf(verdict) !== null && missingRanks.length > 0 && (first === undefined || first[0] === null);
}

function awayText(found: Diagnosis): string | null {
  const { verdict, missingRanks, worldSize } = found;
  const stall = stallOf(verdict);
  if (stall === null || !isAway(found)) return null;
  const { front, nRanks } = stall;
  const who =
    front !== null && front.peerFile === null ? peerName(front, stall, found) : foldRanks(missingRanks);
  const call = `${callText(stall)} (${sizeText(nRanks, worldSize)})`;
  return `${verdict.kind.toUpperCase()}: ${call}: this node waits for others: rank ${who.replace(' (no file)', '')}, no file here`;
}

/** A verdict that goes on, without an alarm. */
const WELL: readonly string[] = ['healthy', 'working', 'waiting', 'nothing'];

export interface Change {
  /** 'recovered': the job goes on after an alarm. */
  readonly change: AlarmKind | 'recovered';
  readonly headline: string;
  /** null: recovered. */
  readonly alarm: Alarm | null;
}

/**
 * ms for which looks must show the same before it is told, or before its end is. Slowness comes and goes with the records that the rings
 * hold. When a whole job is ended, its processes die one after the other. The other alarms are told at once.
 */
const SEEN_FOR: Readonly<Partial<Record<AlarmKind, number>>> = { slow: 30_000, unclear: 5_000 };

/** The alarm that stands. */
export class Alarms {
  private standing: {
    readonly key: string;
    readonly alarm: Alarm;
    readonly progress: readonly RankProgress[];
  } | null = null;
  private seen = { key: '', since: 0 };

  get now(): Alarm | null {
    return this.standing?.alarm ?? null;
  }

  /** Another run began. */
  forget(): void {
    this.standing = null;
    this.seen = { key: '', since: 0 };
  }

  /** `now`: ms; Infinity: the run is over, and this is its verdict. null: nothing new to say. */
  take(found: Diagnosis, progress: readonly RankProgress[], now: number): Change | null {
    const alarm = alarmOf(found);
    const isWell = alarm === null && WELL.includes(found.verdict.kind);
    const key = alarm === null ? (isWell ? 'well' : 'doubt') : `${alarm.kind} ${alarm.ranks}`;
    if (key !== this.seen.key) this.seen = { key, since: now };
    const isSeen = (kind: AlarmKind): boolean =>
      now === Infinity || now - this.seen.since >= (SEEN_FOR[kind] ?? 0);
    const before = this.standing;
    if (alarm !== null) {
      if (before?.key === key || !isSeen(alarm.kind)) return null;
      this.standing = { key, alarm, progress };
      return { change: alarm.kind, headline: alarm.headline, alarm };
    }
    if (before === null || !isWell || !isSeen(before.alarm.kind)) return null;
    // A process that was stopped and then killed is no suspect for a moment, but nothing has moved.
    if (!hasMoved(before.progress, progress)) return null;
    this.standing = null;
    const headline = `RECOVERED: no longer ${before.alarm.headline}`;
    return { change: 'recovered', headline, alarm: null };
  }
}

/** A collective has ended since; of a communicator without numbered collectives, anything has begun or ended. */
function hasMoved(before: readonly RankProgress[], now: readonly RankProgress[]): boolean {
  return now.some((one) => {
    const then = before.find(({ rank, comm }) => rank === one.rank && comm === one.comm);
    if (one.functions.length === 0) return (one.lastProgress ?? 0) > (then?.lastProgress ?? 0);
    return one.functions.some(({ func, finished }) => {
      const known = then?.functions.find((other) => other.func === func);
      return finished !== null && finished > (known?.finished ?? -1);
    });
  });
}
