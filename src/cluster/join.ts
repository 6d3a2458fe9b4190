/**
 * Joins the ranks' collectives: the same (communicator, function, sequence number, replay ordinal) is the same
 * collective. Nothing is matched by counting or by time, so a rank that lost records loses only those.
 */

import { isLostText } from '../base/lost_text.js';
import type { TraceNs } from '../base/time.js';
import { kernelsEnd } from '../model/work_end.js';
import type { WorkTable } from '../model/work_table.js';
import { arrivalOf, type Arrival } from './arrival.js';
import type { ClusterComm, ClusterMember, Collective, Idle } from './types.js';

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
  /** null: it was open, or its end is not told. */
  readonly end: TraceNs | null;
  readonly isOpen: boolean;
}

/** `heard`: told of every part, file by file. A collective keeps only its first and last ones. */
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
  const { comm, seq, ordinalAbsolute, func, funcs } = member.works;
  const nameless = new Set(funcs.flatMap((name, i) => (isLostText(name) ? [i] : [])));
  let free = -Infinity;
  let idle: Idle = { from: free, to: 0 as TraceNs };
  const freeIn = new Map<number, number>();
  for (let row = 0; row < comm.length; row++) {
    const over = freeAfter(member, row);
    const before = freeIn.get(comm[row]!) ?? -Infinity;
    // What ends before the one that was enqueued earlier runs beside it.
    const arrival = arrivalOf(member, row, before < over ? before : -Infinity);
    if (free <= arrival.at) idle = { from: free, to: arrival.at };
    // A send/receive has no seq; an ordinal that does not count from the beginning names nothing on other ranks, nor does
    // a function whose name is lost.
    const of = byNumber.get(comm[row]!);
    if (of && of.commId !== 0n && seq[row]! >= 0 && ordinalAbsolute[row] === 1 && !nameless.has(func[row]!)) {
      const { commId, rank } = of;
      comms.get(commId)?.add(member, file, row, { arrival, idle, rank });
      heard?.({ commId, file, rank, arrival: arrival.at, ...partOf(member, row) });
    }
    free = Math.max(free, over);
    if (over !== Infinity) freeIn.set(comm[row]!, Math.max(before, over));
  }
}

function partOf(
  member: ClusterMember,
  row: number,
): Pick<Part, 'func' | 'seq' | 'ordinal' | 'end' | 'isOpen'> {
  const { func, funcs, seq, ordinal } = member.works;
  const isOpen = member.ends[row]!.outcome === 'open';
  const end = isOpen ? null : endOf(member, row);
  return { func: funcs[func[row]!]!, seq: seq[row]!, ordinal: ordinal[row]!, end, isOpen };
}

type Draft = { -readonly [Field in keyof Collective]: Collective[Field] } & {
  open: number[];
  aborted: number[];
  different: number[];
  seen: number[];
  /** The two that may have come latest. */
  latest: readonly Came[];
};

/** How a rank came to a collective. */
interface Coming {
  readonly arrival: Arrival;
  /** When its process last had nothing under way. */
  readonly idle: Idle;
  /** In the communicator. */
  readonly rank: number;
}

interface Came {
  readonly file: number;
  readonly rank: number;
  readonly at: TraceNs;
}

class CommDraft {
  private name = '';
  private nRanks = 0;
  private readonly files = new Set<number>();
  /** By function, ordinal and sequence number. */
  private readonly drafts = new Map<string, Map<number, Draft>>();
  /** Per file its first and last arrival: what it can bear witness to. */
  private readonly windows = new Map<number, { from: TraceNs; to: TraceNs }>();

  constructor(private readonly commId: bigint) {}

  joined(file: number, name: string, nRanks: number): void {
    this.files.add(file);
    if (this.name === '') this.name = name;
    this.nRanks = Math.max(this.nRanks, nRanks);
  }

  add(member: ClusterMember, file: number, row: number, coming: Coming): void {
    const { works } = member;
    const end = member.ends[row]!;
    const { arrival } = coming;
    const draft = this.draft(works, row, file, coming);
    if (arrival.called < draft.firstCalled) draft.firstCalled = arrival.called;
    if (arrival.at < draft.firstArrival) {
      draft.firstArrival = arrival.at;
      draft.firstFile = file;
    }
    if (arrival.at > draft.lastArrival) Object.assign(draft, lastOf(file, coming));
    const [first, second] = draft.latest;
    if (!second || arrival.latest > second.at) {
      const came = { file, rank: coming.rank, at: arrival.latest };
      draft.latest = !first ? [came] : came.at > first.at ? [came, first] : [first, came];
    }
    draft.seen.push(file);
    const datatype = works.datatypes[works.datatype[row]!]!;
    if (isLostText(draft.datatype)) draft.datatype = datatype;
    const isSame =
      works.count[row] === draft.count &&
      (datatype === draft.datatype || isLostText(datatype)) &&
      works.root[row] === draft.root;
    if (!isSame) draft.different.push(file);
    if (end.outcome === 'open') draft.open.push(file);
    else draft.end = later(draft.end, endOf(member, row));
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

  private draft(works: WorkTable, row: number, file: number, coming: Coming): Draft {
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
        ...lastOf(file, coming),
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
        latest: [],
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

  private complete({ seen, latest, ...draft }: Draft): Collective {
    // A process with several GPUs is seen once for each of them.
    const once = new Set(seen);
    const absent: number[] = [];
    const notKnown: number[] = [];
    if (once.size < this.files.size) {
      for (const file of this.files)
        if (!once.has(file)) (this.couldHaveSeen(file, draft) ? absent : notKnown).push(file);
    }
    const [open, aborted, different] = [draft.open, draft.aborted, draft.different].map((files) => [
      ...new Set(files),
    ]) as [number[], number[], number[]];
    const other = latest.find(({ file, rank }) => file !== draft.lastFile || rank !== draft.lastRank);
    const alone = { ...draft.alone, from: other?.at ?? draft.alone.to };
    return { ...draft, alone, arrived: seen.length, absent, notKnown, open, aborted, different };
  }

  /**
   * A rank that still works on something older has not come to it yet, which is the point of a hang; a rank whose records
   * begin later cannot tell.
   */
  private couldHaveSeen(file: number, { firstCalled }: Pick<Draft, 'firstCalled'>): boolean {
    const window = this.windows.get(file);
    return window !== undefined && window.from <= firstCalled;
  }
}

const lastOf = (
  file: number,
  { arrival, idle, rank }: Coming,
): Pick<
  Collective,
  'lastArrival' | 'lastFile' | 'lastIdle' | 'lastBasis' | 'lastCalled' | 'lastRank' | 'alone'
> => ({
  lastArrival: arrival.at,
  lastFile: file,
  lastIdle: idle,
  lastBasis: arrival.basis,
  lastCalled: arrival.called,
  lastRank: rank,
  alone: { from: arrival.earliest, to: arrival.earliest },
});

/** When a work was over that has ended; where no end is told, when it was enqueued. */
function freeAfter(member: ClusterMember, row: number): number {
  const end = member.ends[row]!;
  if (end.outcome === 'open') return Infinity;
  const enqueued = member.works.enqueued[row]!;
  const over = endOf(member, row);
  return over ?? (Number.isNaN(enqueued) ? -Infinity : member.time(enqueued));
}

/**
 * The end of the last child: a kernel's by the GPU's clock where that is known and can be true; a send
 * that another process executed, by that process; of an aborted one, when its communicator was finalized.
 */
function endOf({ works, ends, time, gpuTime }: ClusterMember, row: number): TraceNs | null {
  const end = ends[row]!;
  let latest = end.elsewhere?.lastEnd ?? null;
  if (end.lastOp !== null) latest = later(latest, time(end.lastOp));
  if (end.finalized !== null) latest = later(latest, time(end.finalized));
  if (end.lastKernel) {
    const { stamps, noticed } = end.lastKernel;
    const onAxis = gpuTime(works.comm[row]!);
    const stamped = stamps && onAxis && { first: onAxis(stamps.first), last: onAxis(stamps.last) };
    latest = later(latest, kernelsEnd(stamped, time(works.arrival[row]!), time(noticed)));
  }
  return latest;
}

function later(a: TraceNs | null, b: TraceNs | null): TraceNs | null {
  if (a === null || b === null) return a ?? b;
  return b > a ? b : a;
}
