/**
 * Joins the ranks' collectives: the same (communicator, function, sequence number, replay ordinal) is the same
 * collective. Nothing is matched by counting or by time, so a rank that lost records loses only those.
 */

import { isLostText } from '../base/lost_text.js';
import type { TraceNs } from '../base/time.js';
import { addFile, CollectiveTable, type RankComing } from './collective_table.js';
import { CollectiveView } from './collective_view.js';
import { Course } from './course.js';
import { overAt } from './ends.js';
import type { ClusterComm, ClusterMember } from './types.js';

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
    comms.get(commId)?.add(member, row, { ...coming, file, rank });
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

/** One communicator while its files are read. */
class CommDraft {
  private name = '';
  private nRanks = 0;
  private readonly files: number[] = [];
  private readonly table = new CollectiveTable();
  /** By file: the rows that it has seen. */
  private readonly seen = new Map<number, RowSet>();
  /** Per file its first and last arrival: the time it can testify for. */
  private readonly windows = new Map<number, { from: TraceNs; to: TraceNs }>();

  constructor(private readonly commId: bigint) {}

  joined(file: number, name: string, nRanks: number): void {
    if (this.files.at(-1) !== file) this.files.push(file);
    if (this.name === '') this.name = name;
    this.nRanks = Math.max(this.nRanks, nRanks);
  }

  add(member: ClusterMember, work: number, coming: RankComing): void {
    const { file, arrival } = coming;
    const row = this.table.add(member, work, coming);
    let seen = this.seen.get(file);
    if (!seen) this.seen.set(file, (seen = new RowSet()));
    seen.add(row);
    this.widen(file, arrival.called);
  }

  finish(): ClusterComm {
    const { commId, name, nRanks, files, table } = this;
    this.findMissing();
    table.close();
    const { firstCalled, seq } = table.columns;
    const collectives = Array.from({ length: table.rows }, (_, row) => row)
      .sort((a, b) => firstCalled[a]! - firstCalled[b]! || seq[a]! - seq[b]!)
      .map((row) => new CollectiveView(table, row));
    return { commId, name, nRanks, files, collectives };
  }

  private widen(file: number, at: TraceNs): void {
    const window = this.windows.get(file);
    if (!window) this.windows.set(file, { from: at, to: at });
    else {
      if (at < window.from) window.from = at;
      if (at > window.to) window.to = at;
    }
  }

  /**
   * A rank that still works on something older has not arrived yet, which is the point of a hang. For a rank whose records begin later
   * it is not known.
   */
  private findMissing(): void {
    const { rows, columns, absent, notKnown } = this.table;
    for (const file of this.files) {
      const seen = this.seen.get(file);
      if (seen?.size === rows) continue;
      const from = this.windows.get(file)?.from ?? Infinity;
      for (let row = 0; row < rows; row++)
        if (!seen?.has(row)) addFile(from <= columns.firstCalled[row]! ? absent : notKnown, row, file);
    }
  }
}

/** Numbers of rows, a bit each. */
class RowSet {
  size = 0;
  private bits = new Uint32Array(8);

  has(row: number): boolean {
    return ((this.bits[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  }

  add(row: number): void {
    if (this.has(row)) return;
    this.size++;
    const word = row >>> 5;
    if (word >= this.bits.length) {
      const { bits } = this;
      this.bits = new Uint32Array(2 * word);
      this.bits.set(bits);
    }
    this.bits[word]! |= 1 << (row & 31);
  }
}
