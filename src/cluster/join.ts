/**
 * Joins the ranks' collectives: the same (communicator, function, sequence number, replay ordinal) is the same
 * collective. Nothing is matched by counting or by time, so a rank that lost records loses only those.
 */

import { isLostText } from '../base/lost_text.js';
import type { TraceNs } from '../base/time.js';
import type { WorkTable } from '../model/work_table.js';
import { Course } from './course.js';
import { later, overAt } from './ends.js';
import { LastRanks, type RankComing } from './late.js';
import type { ClusterComm, ClusterMember, Collective } from './types.js';

/** One rank's part in one collective. */
export interface Part {
  readonly commId: bigint;
  readonly func: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly file: number;
  /** In the communicator. */
  readonly rank: number;
  readonly arrival: TraceNs;
  /** null: it was open, or its end is not reported. */
  readonly end: TraceNs | null;
  readonly isOpen: boolean;
}

/** `heard`: called for every part, file by file. A collective keeps only its first and last ones. */
export function joinCollectives(
  members: readonly ClusterMember[],
  heard: ((part: Part) => void) | null = null,
): ClusterComm[] {
  const comms = new Map<bigint, CommDraft>();
  members.forEach((member, file) => {
    for (const { commId, name, nRanks } of member.communicators) {
      if (commId === 0n) continue;
      const comm = comms.get(commId) ?? new CommDraft(commId);
      comms.set(commId, comm);
      comm.joined(file, name, nRanks);
    }
  });
  members.forEach((member, file) => {
    addRows(member, file, comms, heard);
  });
  return [...comms.values()]
    .map((comm) => comm.finish())
    .filter(({ collectives }) => collectives.length > 0)
    .sort((a, b) => b.nRanks - a.nRanks || compareNames(a, b));
}

function compareNames(a: ClusterComm, b: ClusterComm): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.commId < b.commId ? -1 : 1;
}

function addRows(
  member: ClusterMember,
  file: number,
  comms: ReadonlyMap<bigint, CommDraft>,
  heard: ((part: Part) => void) | null,
): void {
  const byNumber = new Map(member.communicators.map((one) => [one.number, one]));
  const { seq, comm, ordinalAbsolute, func, funcs } = member.works;
  const lostNames = new Set(funcs.flatMap((name, i) => (isLostText(name) ? [i] : [])));
  const course = new Course(member);
  for (let row = 0; row < comm.length; row++) {
    const coming = course.comingOf(row);
    // A send or receive has no seq. An ordinal that does not count from the beginning, or a function whose name is lost, cannot be
    // found on other ranks.
    const of = byNumber.get(comm[row]!);
    if (!of || of.commId === 0n || seq[row]! < 0 || ordinalAbsolute[row] !== 1 || lostNames.has(func[row]!))
      continue;
    const { commId, rank } = of;
    comms.get(commId)?.add(member, file, row, { ...coming, file, rank });
    heard?.({ commId, file, rank, arrival: coming.arrival.at, ...partOf(member, row) });
  }
}

function partOf(
  member: ClusterMember,
  row: number,
): Pick<Part, 'func' | 'seq' | 'ordinal' | 'end' | 'isOpen'> {
  const { func, funcs, seq, ordinal } = member.works;
  const isOpen = member.endOf(row).outcome === 'open';
  const end = isOpen ? null : overAt(member, row);
  return { func: funcs[func[row]!]!, seq: seq[row]!, ordinal: ordinal[row]!, end, isOpen };
}

type Draft = { -readonly [Field in Exclude<keyof Collective, 'late'>]: Collective[Field] } & {
  open: number[];
  aborted: number[];
  different: number[];
  seen: number[];
  readonly last: LastRanks;
};

class CommDraft {
  private name = '';
  private nRanks = 0;
  private readonly files = new Set<number>();
  /** By function, ordinal and sequence number. */
  private readonly drafts = new Map<string, Map<number, Draft>>();
  /** Per file its first and last arrival: the time it can testify for. */
  private readonly windows = new Map<number, { from: TraceNs; to: TraceNs }>();

  constructor(private readonly commId: bigint) {}

  joined(file: number, name: string, nRanks: number): void {
    this.files.add(file);
    if (this.name === '') this.name = name;
    this.nRanks = Math.max(this.nRanks, nRanks);
  }

  add(member: ClusterMember, file: number, row: number, coming: RankComing): void {
    const { works } = member;
    const end = member.endOf(row);
    const { arrival } = coming;
    const draft = this.draft(works, row, file, coming);
    if (arrival.called < draft.firstCalled) draft.firstCalled = arrival.called;
    if (arrival.at < draft.firstArrival) {
      draft.firstArrival = arrival.at;
      draft.firstFile = file;
    }
    if (arrival.at > draft.lastArrival) {
      draft.lastArrival = arrival.at;
      draft.lastFile = file;
      draft.lastRank = coming.rank;
    }
    draft.last.add(coming);
    draft.seen.push(file);
    const datatype = works.datatypes[works.datatype[row]!]!;
    if (isLostText(draft.datatype)) draft.datatype = datatype;
    const isSame =
      works.count[row] === draft.count &&
      (datatype === draft.datatype || isLostText(datatype)) &&
      works.root[row] === draft.root;
    if (!isSame) draft.different.push(file);
    if (end.outcome === 'open') draft.open.push(file);
    else draft.end = later(draft.end, overAt(member, row));
    if (end.outcome === 'aborted') draft.aborted.push(file);
    if (end.outcome === 'complete' && (end.lastRecv !== null || end.lastKernel !== null)) draft.isFed = true;
    const enqueued = works.enqueued[row]!;
    if (!Number.isNaN(enqueued)) draft.enqueued = later(draft.enqueued, member.time(enqueued));
    this.widen(file, arrival.called);
  }

  finish(): ClusterComm {
    const collectives = [...this.drafts.values()]
      .flatMap((bySeq) => [...bySeq.values()])
      .sort((a, b) => a.firstCalled - b.firstCalled || a.seq - b.seq)
      .map((draft) => this.complete(draft));
    const { commId, name, nRanks } = this;
    return { commId, name, nRanks, files: [...this.files], collectives };
  }

  private draft(works: WorkTable, row: number, file: number, coming: RankComing): Draft {
    const func = works.funcs[works.func[row]!]!;
    const [seq, ordinal] = [works.seq[row]!, works.ordinal[row]!];
    const key = `${func} ${ordinal}`;
    let bySeq = this.drafts.get(key);
    if (!bySeq) {
      bySeq = new Map<number, Draft>();
      this.drafts.set(key, bySeq);
    }
    let draft = bySeq.get(seq);
    if (!draft) {
      draft = {
        func,
        datatype: works.datatypes[works.datatype[row]!]!,
        count: works.count[row]!,
        root: works.root[row]!,
        seq,
        ordinal,
        firstCalled: coming.arrival.called,
        firstArrival: coming.arrival.at,
        firstFile: file,
        lastArrival: coming.arrival.at,
        lastFile: file,
        lastRank: coming.rank,
        arrived: 0,
        open: [],
        aborted: [],
        absent: [],
        notKnown: [],
        different: [],
        isFed: false,
        end: null,
        enqueued: null,
        seen: [],
        last: new LastRanks(),
      };
      bySeq.set(seq, draft);
    }
    return draft;
  }

  private widen(file: number, at: TraceNs): void {
    const window = this.windows.get(file);
    if (!window) this.windows.set(file, { from: at, to: at });
    else {
      if (at < window.from) window.from = at;
      if (at > window.to) window.to = at;
    }
  }

  /** One literal and one shared empty list, because there is one for each collective of the run. */
  private complete(draft: Draft): Collective {
    const missing = this.missing(draft);
    return {
      func: draft.func,
      datatype: draft.datatype,
      count: draft.count,
      root: draft.root,
      seq: draft.seq,
      ordinal: draft.ordinal,
      firstCalled: draft.firstCalled,
      firstArrival: draft.firstArrival,
      firstFile: draft.firstFile,
      lastArrival: draft.lastArrival,
      lastFile: draft.lastFile,
      lastRank: draft.lastRank,
      late: draft.last.late(),
      arrived: draft.seen.length,
      open: once(draft.open),
      aborted: once(draft.aborted),
      absent: once(missing.filter((file) => this.couldHaveSeen(file, draft))),
      notKnown: once(missing.filter((file) => !this.couldHaveSeen(file, draft))),
      different: once(draft.different),
      isFed: draft.isFed,
      end: draft.end,
      enqueued: draft.enqueued,
    };
  }

  private missing({ seen }: Draft): readonly number[] {
    const files = new Set(seen);
    return files.size === this.files.size ? NO_FILES : [...this.files].filter((file) => !files.has(file));
  }

  /**
   * A rank that still works on something older has not arrived yet, which is the point of a hang. For a rank whose records begin later
   * it is not known.
   */
  private couldHaveSeen(file: number, { firstCalled }: Pick<Draft, 'firstCalled'>): boolean {
    const window = this.windows.get(file);
    return window !== undefined && window.from <= firstCalled;
  }
}

const NO_FILES: readonly number[] = [];

/** A process with several GPUs counts once for each of them. */
function once(files: readonly number[]): readonly number[] {
  if (files.length === 0) return NO_FILES;
  return files.length === 1 ? files : [...new Set(files)];
}
