/**
 * Follows the rank files of a job while it runs, at next to no cost: which files there are, which belong to the newest run, which processes
 * live, and whether anything is recorded. Reads no record. What it sees says when a look at the records is worth its cost (pace.ts).
 */

import { statSync } from 'node:fs';
import { hex64 } from '../base/hex.js';
import { codeOf } from '../base/reason.js';
import { RankFileError } from '../base/errors.js';
import { findRankFiles, openRankFileTables, processNow, readPulse, type Pulse } from '../rankfile/index.js';
import type { FileInRun } from '../runs/find_runs.js';
import { pickRun } from '../runs/run.js';
import { compare, groupIntoRuns, processKey, sharedIds } from '../runs/runs.js';

/** ms: a recorder writes a heartbeat each second, and a file of another node may reach us a minute late. */
const SILENT_AFTER = 60_000;
/** Looks: this process may have been stopped for a minute, too. */
const SILENT_LOOKS = 6;
/** ms: processes of the start before may end while those of the next one begin. */
const AFTER_RESTART = 30_000;

/** A rank file of the run, and what its process does. */
export interface Member {
  readonly path: string;
  readonly header: Pulse['header'];
  /** 'unknown': the process is of another node or container. */
  readonly process: ReturnType<typeof processNow>;
  /** The file will not change any more. */
  readonly isOver: boolean;
  /** ms, by the clock of `look`: when slots were last seen to be handed out, and the heartbeat to change. */
  readonly movedAt: number;
  readonly livedAt: number;
  /** It was seen to move. Otherwise `movedAt` is the time when it was first seen. */
  readonly hasMoved: boolean;
  /** Handed out so far. */
  readonly slots: number;
}

export type Event = 'appeared' | 'ended' | 'died';

export interface Sight {
  /** The name of the run; null: there is none yet, or its files are gone. */
  readonly run: string | null;
  /** The name that its job was given, the same on all nodes; else the id of its first communicator, which is random. Empty: it has neither yet. */
  readonly id: string;
  /** Other jobs whose processes went on running beside this one, not only while it was started again. */
  readonly beside: readonly string[];
  /** ms since the Unix epoch: the last sign of life of any process of the run when its files were chosen. -Infinity: there is no run. */
  readonly lastSeen: number;
  readonly members: readonly Member[];
  /** What happened since the last look. */
  readonly events: readonly Event[];
  /** All processes have ended, and none of another run has begun. */
  readonly isOver: boolean;
  /** Files that this user may not read: of other users' jobs, or of a job that must be watched by its own user. */
  readonly denied: number;
}

/** Before the first look. */
export const NO_SIGHT: Sight = {
  run: null,
  id: '',
  beside: [],
  lastSeen: -Infinity,
  members: [],
  events: [],
  isOver: true,
  denied: 0,
};

interface Known {
  /** The process, so that a file that was replaced is another one. */
  readonly key: string;
  /** The file itself. After its process has ended only another file of this name can say something new. */
  file: string;
  pulse: Pulse;
  process: Member['process'];
  movedAt: number;
  hasMoved: boolean;
  /** ms and looks since the heartbeat was last seen to change. */
  livedAt: number;
  quietLooks: number;
  isOver: boolean;
  tables: FileInRun | null;
}

export class Follower {
  private readonly known = new Map<string, Known>();
  private denied = 0;
  private run: {
    readonly name: string;
    readonly id: string;
    readonly lastSeen: number;
    readonly paths: readonly string[];
  } | null = null;
  /** ms: since when it is this run. */
  private chosenAt = 0;
  private others: readonly { readonly name: string; readonly paths: readonly string[] }[] = [];

  /** `wanted`: the name of a run; undefined: the newest. */
  constructor(
    private readonly folder: string,
    private readonly wanted: string | undefined,
  ) {}

  /** `now`: ms, of a clock that never steps back. Throws RankFileError if the folder may not be read, and UsageError for a wrong name. */
  look(now: number): Sight {
    const events = new Set<Event>();
    this.denied = 0;
    const files = filesIn(this.folder);
    const there = new Set(files);
    for (const path of this.known.keys()) if (!there.has(path)) this.known.delete(path);
    let isNew = false;
    for (const path of files) isNew = this.see(path, now, events) || isNew;
    const before = this.run?.name;
    const isGone = this.run !== null && !this.run.paths.every((path) => this.known.has(path));
    if (isNew || isGone || this.hasOrphans()) this.choose(now);
    if (this.run !== null && (isNew || this.run.name !== before)) events.add('appeared');
    const members = (this.run?.paths ?? []).map((path) => memberOf(path, this.known.get(path)!));
    // It may have died before it was first seen.
    const isDead = ({ isOver, header }: Member): boolean => isOver && header.life !== 'closed';
    if (events.has('appeared') && members.some(isDead)) events.add('died');
    const isOver = members.every((member) => member.isOver);
    const { name: run = null, id = '', lastSeen = -Infinity } = this.run ?? {};
    const isLive = (path: string): boolean => this.known.get(path)?.isOver === false;
    const goOn = now - this.chosenAt >= AFTER_RESTART ? this.others : [];
    const beside = goOn.filter(({ paths }) => paths.some(isLive)).map((other) => other.name);
    return { run, id, beside, lastSeen, members, events: [...events], isOver, denied: this.denied };
  }

  /** True if it is a new file, or one in place of another. */
  private see(path: string, now: number, events: Set<Event>): boolean {
    const known = this.known.get(path);
    const file = fileOf(path);
    if (known?.isOver === true && known.process !== 'unknown' && known.file === file) return false;
    const pulse = pulseOf(path);
    if (pulse === 'denied') this.denied++;
    if (pulse === null || pulse === 'denied') {
      this.known.delete(path);
      return false;
    }
    const key = processKey(pulse);
    if (known?.key !== key) {
      const process = processNow({ path, header: pulse.header });
      const first = {
        key,
        file,
        pulse,
        process,
        movedAt: now,
        hasMoved: false,
        livedAt: now,
        quietLooks: 0,
        tables: null,
      };
      this.known.set(path, { ...first, isOver: hasEnded(pulse, process) });
      return true;
    }
    const wasOver = known.isOver;
    known.file = file;
    if (pulse.slots !== known.pulse.slots) Object.assign(known, { movedAt: now, hasMoved: true });
    if (pulse.beat === known.pulse.beat) known.quietLooks++;
    else [known.livedAt, known.quietLooks] = [now, 0];
    known.process = processNow({ path, header: pulse.header });
    known.isOver = hasEnded(pulse, known.process) || isSilent(known, now);
    known.pulse = pulse;
    if (known.isOver && !wasOver) {
      known.tables = null; // read once more, for the last time
      if (this.run?.paths.includes(path)) events.add(pulse.header.life === 'closed' ? 'ended' : 'died');
    }
    return false;
  }

  /** A file without a communicator may not be in its run yet. */
  private hasOrphans(): boolean {
    return [...this.known.values()].some(
      ({ tables, isOver }) => tables === null || (!isOver && tables.communicators.length === 0),
    );
  }

  /** Which files are of the run. The tables of ended processes do not change, so they are read once. */
  private choose(now: number): void {
    const found: FileInRun[] = [];
    for (const [path, known] of this.known) {
      const isFirst = known.tables === null && known.quietLooks === 0;
      if (!known.isOver || known.tables === null) known.tables = tablesOf(path);
      if (known.tables === null) continue;
      found.push(known.tables);
      if (isFirst && known.process === 'unknown') ageBy(known, known.tables, now);
    }
    const runs = groupIntoRuns(found);
    const chosen = runs.length === 0 ? null : pickRun(runs, this.wanted);
    const pathsOf = (run: (typeof runs)[number]): string[] => run.files.map(({ path }) => path);
    if (chosen?.name !== this.run?.name) this.chosenAt = now;
    this.run = chosen && {
      name: chosen.name,
      id: chosen.id || firstCommunicator(chosen.files),
      lastSeen: Number(chosen.lastSeen / 1_000_000n),
      paths: pathsOf(chosen),
    };
    this.others = runs
      .filter((run) => run !== chosen)
      .map((run) => ({ name: run.name, paths: pathsOf(run) }));
  }
}

/** Of the process that started first. Empty: NCCL reported none. */
function firstCommunicator(files: readonly FileInRun[]): string {
  const inOrder = files.toSorted((a, b) => compare(a.header.startRealtime, b.header.startRealtime));
  const [first] = inOrder.flatMap((file) => sharedIds(file));
  return first === undefined ? '' : hex64(first);
}

const memberOf = (path: string, { pulse, process, isOver, movedAt, livedAt, hasMoved }: Known): Member => ({
  ...{ path, process, isOver, movedAt, livedAt, hasMoved },
  header: pulse.header,
  slots: pulse.slots,
});

/** A snapshot is a copy, which nobody writes to. */
const hasEnded = ({ header }: Pulse, process: Member['process']): boolean =>
  header.life === 'closed' || header.snapshotRealtime !== null || process === 'gone';

/** Of a process about which the kernel of this node cannot say anything. */
const isSilent = ({ process, livedAt, quietLooks }: Known, now: number): boolean =>
  process === 'unknown' && now - livedAt >= SILENT_AFTER && quietLooks >= SILENT_LOOKS;

/** A file of an earlier run, by the wall clock. If that is wrong, the next heartbeat shows that the process lives. */
function ageBy(known: Known, { heartbeat, header }: FileInRun, now: number): void {
  const age = Date.now() - Number((heartbeat?.realtime ?? header.startRealtime) / 1_000_000n);
  if (age < SILENT_AFTER) return;
  Object.assign(known, { livedAt: now - age, quietLooks: SILENT_LOOKS, isOver: true });
}

const DENIED: readonly string[] = ['EACCES', 'EPERM'];

/** Empty: the folder or its files do not exist yet, or not any more. */
function filesIn(folder: string): readonly string[] {
  try {
    return findRankFiles([folder]).files;
  } catch (error) {
    if (!(error instanceof RankFileError) || DENIED.includes(codeOf(error.cause))) throw error;
    return [];
  }
}

function fileOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  // A new file may get the number of one that was removed.
  return stat === undefined ? 'gone' : `${stat.dev} ${stat.ino} ${stat.ctimeMs}`;
}

/** null: it is being created, or no rank file. */
function pulseOf(path: string): Pulse | 'denied' | null {
  try {
    return readPulse(path);
  } catch (error) {
    if (error instanceof RankFileError && DENIED.includes(codeOf(error.cause))) return 'denied';
    if (error instanceof RankFileError || codeOf(error) !== '') return null;
    throw error;
  }
}

function tablesOf(path: string): FileInRun | null {
  try {
    const { header, communicators, heartbeat, leases } = openRankFileTables(path);
    return { path, header, communicators: [...communicators.values()], heartbeat, leases };
  } catch (error) {
    if (error instanceof RankFileError) return null;
    throw error;
  }
}
