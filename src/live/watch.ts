/**
 * Watches a job while it runs: follows its files in windows, looks at the records when that can say something new, tells what changed, and
 * takes what will be gone when the job is ended. Beside the job, it reads; nothing is added to the job itself.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Diagnosis } from '../report/diagnosis.js';
import { headline } from '../report/headline.js';
import { interruptedBy } from '../output/work_folder.js';
import { Alarms, type Alarm, type AlarmKind, type Change } from './alarm.js';
import { Follower, type Member, type Sight } from './follow.js';
import { Pace } from './pace.js';
import type { RankProgress } from './rank_progress.js';
import type { Work } from './work.js';

/** What a look at the records costs and finds. */
export interface Look {
  /** A text: why there is no verdict. */
  readonly found: Diagnosis | string;
  readonly progress: readonly RankProgress[];
  /** null: it was not asked for. */
  readonly work: Work | null;
  /** ms of CPU time. */
  readonly cpu: number;
}

/** What a look reads. */
export interface Wanted {
  readonly files: readonly string[];
  /** ms: the time since the look before. Rates are those of this time. */
  readonly last: number;
  /** All that was recorded; otherwise no more of a stream file than of one of flight mode. */
  readonly isWhole: boolean;
}

export interface WatchOptions {
  readonly folder: string;
  /** The name of a run; undefined: the newest that is not over. */
  readonly run: string | undefined;
  /** ms of a window. */
  readonly every: number;
  /** s */
  readonly hungAfter: number | undefined;
  /** ms: how long after the end of a run another one may begin. */
  readonly linger: number;
  /** The verdict on these files, as `inspect` gives it. */
  readonly look: (wanted: Wanted) => Promise<Look>;
  /** Called with each window. */
  readonly onSight?: (sight: Sight) => void;
  readonly onLook?: (look: Look) => void;
  readonly onChange?: (change: Change, found: Diagnosis) => Promise<void>;
  /** Verdicts that are an incident. It ends when the job recovers, or another run begins. */
  readonly actOn?: readonly AlarmKind[];
  /** Once per incident. */
  readonly onIncident?: (alarm: Alarm, found: Diagnosis, members: readonly Member[]) => void;
  /** For people: what it waits for. */
  readonly onNote: (text: string) => void;
  readonly interrupt: AbortSignal;
}

/** Returns the alarm that stands when the job has ended; null: none does. Throws `Interrupted`, RankFileError, UsageError. */
export async function watch(options: WatchOptions): Promise<AlarmKind | null> {
  const { every, linger, run, onNote, interrupt } = options;
  const follower = new Follower(options.folder, run);
  const job = new WatchedJob(options);
  const clock = (): number => performance.now();
  let waits = '';
  const wait = (text: string): void => {
    if (waits !== text) onNote(text);
    waits = text;
  };
  const told = new Set<string>();
  let overSince: number | null = null;
  // A run that was over when this process began is an earlier one: the job may take minutes to begin.
  let earlier: string | null | undefined;
  for (;;) {
    const now = clock();
    const sight = follower.look(now);
    options.onSight?.(sight);
    // A user who names a run knows of the others.
    for (const other of run === undefined ? sight.beside : []) {
      if (!told.has(other)) onNote(`${other} runs there, too, and is not watched: --run ${other} watches it`);
      told.add(other);
    }
    if (earlier === undefined)
      earlier =
        run === undefined && sight.isOver && sight.lastSeen < performance.timeOrigin ? sight.run : null;
    if (sight.run === null && job.run === null)
      wait(`waits for rank files in ${options.folder}${deniedText(sight)}`);
    else if (job.run === null && sight.run === earlier)
      wait(`the newest run, ${earlier}, is over; waits for the next one (--run ${earlier} judges it)`);
    else {
      await job.see(sight, now);
      overSince = sight.isOver ? (overSince ?? now) : null;
      if (overSince !== null && now - overSince >= linger) return job.end(sight, now);
    }
    const window = job.run === null ? Math.min(every, BEFORE) : every;
    const until = Math.min(now + window, sight.isOver ? Infinity : job.due(sight));
    await pause(Math.max(LEAST_PAUSE, until - clock()), undefined, { signal: interrupt }).catch(() => {
      throw interruptedBy(interrupt);
    });
  }
}

const deniedText = ({ denied }: Sight): string =>
  denied === 0 ? '' : `; ${denied} there may be read by the user of their job only`;

/** ms */
const LEAST_PAUSE = 100;
/** ms: before there is a job, a look costs nothing. */
const BEFORE = 1_000;

class WatchedJob {
  run: string | null = null;
  private readonly alarms = new Alarms();
  private readonly pace: Pace;
  /** A process began or ended since the last look. */
  private isOther = false;
  private diedAt = -Infinity;
  private failures = 0;
  private isTaken = false;
  private wasAtWork = false;
  /** ms: begin of the last look at this run. */
  private lookedAt: number | null = null;
  /** What all files of a run that is over say. */
  private whole: { readonly found: Diagnosis; readonly progress: readonly RankProgress[] } | null = null;

  constructor(private readonly options: WatchOptions) {
    const { hungAfter } = options;
    this.pace = new Pace(hungAfter === undefined ? undefined : hungAfter * 1000);
  }

  private get isSettled(): boolean {
    return SETTLED.includes(this.alarms.now?.kind ?? '');
  }

  due({ members }: Sight): number {
    const movedAt = members.flatMap((member) => (member.isOver ? [] : [member.movedAt]));
    return this.pace.due({
      ranks: members.length || 1,
      isOther: this.isOther,
      isSettled: this.isSettled,
      movedAt,
    });
  }

  async see(sight: Sight, now: number): Promise<void> {
    if (sight.run !== null && sight.run !== this.run) {
      if (this.run !== null) this.options.onNote(`another run began: ${sight.run}`);
      this.run = sight.run;
      this.alarms.forget();
      this.lookedAt = null;
      this.whole = null;
      this.isTaken = false;
    }
    this.wasAtWork ||= !sight.isOver;
    if (sight.events.length > 0) this.isOther = true;
    if (sight.events.includes('died')) this.diedAt = now;
    // When all processes have ended, nothing changes by itself.
    const isDue = this.due(sight) <= now && (this.isOther || !sight.isOver);
    if (sight.members.length > 0 && isDue) await this.look(sight, now);
  }

  /** The verdict on the whole run, as `inspect` gives it. */
  async end(sight: Sight, now: number): Promise<AlarmKind | null> {
    const { members } = sight;
    if (members.length === 0) return null;
    if (this.isOther || this.whole === null) await this.look(sight, now);
    if (this.whole === null) return this.alarms.now?.kind ?? null;
    const { found, progress } = this.whole;
    this.options.onNote(`the run is over. ${headline(found)}`);
    // A job that was seen at work is slow only if looks agreed for long enough: the last one says no more than the others.
    const at = this.wasAtWork ? now : Infinity;
    await this.tell(found, this.alarms.take(found, progress, at), members);
    return this.alarms.now?.kind ?? null;
  }

  private async look({ members, isOver }: Sight, began: number): Promise<void> {
    const { every, look, onLook, onNote } = this.options;
    this.isOther = false;
    const last = began - (this.lookedAt ?? began - every);
    this.lookedAt = began;
    const files = members.map(({ path }) => path);
    // A run that is over has the verdict of `inspect`.
    const looked = await look({ files, last, isWhole: isOver });
    const { found, cpu } = looked;
    onLook?.(looked);
    const isRead = typeof found !== 'string';
    this.failures = isRead ? 0 : this.failures + 1;
    this.pace.looked({ began, ended: performance.now(), cpu }, isRead ? untilHung(found) : null);
    if (!isRead) {
      // The first files of a job may have nothing in them yet.
      if (this.failures === WORTH_A_NOTE) onNote(found);
      return;
    }
    this.whole = isOver ? { found, progress: looked.progress } : null;
    const change = this.alarms.take(found, looked.progress, began);
    // What a death means shows when the heartbeats and the rings of the others go on.
    this.isOther ||= began - this.diedAt < DEATH_SHOWS && !this.isSettled;
    await this.tell(found, change, members);
  }

  private async tell(found: Diagnosis, change: Change | null, members: readonly Member[]): Promise<void> {
    const { onChange, actOn, onIncident } = this.options;
    if (change === null) return;
    await onChange?.(change, found);
    if (change.alarm === null) this.isTaken = false;
    else if (!this.isTaken && actOn?.includes(change.alarm.kind) === true) {
      this.isTaken = true;
      onIncident?.(change.alarm, found, members);
    }
  }
}

const WORTH_A_NOTE = 3;
/** ms */
const DEATH_SHOWS = 30_000;

/** ms; null: no stall is about to become a hang. */
const untilHung = ({ verdict }: Diagnosis): number | null =>
  verdict.kind === 'waiting' ? (verdict.waiting.hungAfter - verdict.waiting.stall.age) / 1e6 : null;

/** What ended the job's progress does not change its name while nothing moves. */
const SETTLED: readonly string[] = ['hung', 'broken', 'mismatch'];
