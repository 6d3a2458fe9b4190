/**
 * Joins the ranks' collectives: the same (communicator, function, sequence number, replay ordinal) is the same
 * collective. Nothing is matched by counting or by time, so a rank that lost records loses only those.
 */

import { entryOf } from '../base/grouped.js';
import { isLostText } from '../base/lost_text.js';
import { addFile, CollectiveTable, Entry } from './collective_table.js';
import { CollectiveView, type ClusterComm } from './collective_view.js';
import { RankWalk } from './rank_walk.js';
import type { ClusterCommunicator, ClusterMember } from './collective_types.js';

/** Called for every rank's part in a collective: its communicator and row, the rank's file, and the walk, which is at the part. */
export type Heard = (commId: bigint, row: number, file: number, walk: RankWalk) => void;

/** `heard`: file by file. A collective keeps only its first and last parts. */
export function joinCollectives(
  members: readonly ClusterMember[],
  heard: Heard | null = null,
): ClusterComm[] {
  const comms = new Map<bigint, CommDraft>();
  members.forEach((member, file) => {
    for (const { commId, name, nRanks } of member.communicators) {
      if (commId === 0n) continue;
      entryOf(comms, commId, () => new CommDraft(commId)).joined(file, name, nRanks);
    }
  });
  for (const comm of comms.values()) comm.begin();
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
  heard: Heard | null,
): void {
  const entries = new Map(
    member.communicators.map((one) => [one.number, { comm: comms.get(one.commId), one }]),
  );
  const { seq, comm, ordinalAbsolute, func, funcs } = member.works;
  const lostNames = new Set(funcs.flatMap((name, i) => (isLostText(name) ? [i] : [])));
  const walk = new RankWalk(member);
  const places = new Map<number, Place>();
  for (let row = 0; row < comm.length; row++) {
    walk.comeTo(row);
    // Sends and receives have no seq, so they are skipped. A work cannot be found on other ranks if its ordinal does not count from the
    // beginning, or if its function's name is lost.
    if (seq[row]! < 0 || ordinalAbsolute[row] !== 1 || lostNames.has(func[row]!)) continue;
    const number = comm[row]!;
    let place = places.get(number);
    if (!place) {
      const found = entries.get(number);
      // A communicator without an id has no draft.
      if (!found?.comm) continue;
      places.set(number, (place = found.comm.placeOf(member, file, found.one)));
    }
    const collective = place.add(row, walk);
    heard?.(place.commId, collective, file, walk);
  }
}

/** What a communicator knows of one file. */
class FilePart {
  readonly seen = new RowSet();
  /** Its first call. From then on the file can show that its rank did not enter. */
  from = Infinity;
}

/** A rank of a communicator, while the rows of its file are read. */
class Place {
  constructor(
    readonly commId: bigint,
    private readonly table: CollectiveTable,
    private readonly entry: Entry,
    private readonly part: FilePart,
  ) {}

  /** Returns the collective's row. */
  add(work: number, walk: RankWalk): number {
    const { part } = this;
    const row = this.table.add(this.entry, work, walk);
    part.seen.add(row);
    part.from = Math.min(part.from, walk.arrival.called);
    return row;
  }
}

/** One communicator while its files are read. */
class CommDraft {
  private name = '';
  private nRanks = 0;
  private readonly files: number[] = [];
  private table!: CollectiveTable;
  private readonly parts = new Map<number, FilePart>();

  constructor(private readonly commId: bigint) {}

  joined(file: number, name: string, nRanks: number): void {
    if (this.files.at(-1) !== file) this.files.push(file);
    if (this.name === '') this.name = name;
    this.nRanks = Math.max(this.nRanks, nRanks);
  }

  /** When all files have joined. */
  begin(): void {
    this.table = new CollectiveTable(this.nRanks);
  }

  placeOf(member: ClusterMember, file: number, { rank }: ClusterCommunicator): Place {
    const { table, parts, commId } = this;
    const part = entryOf(parts, file, () => new FilePart());
    return new Place(commId, table, new Entry(table, member, file, rank), part);
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

  /**
   * A rank that still works on an older collective has not arrived yet. This is how a hang shows. If the rank's records begin later,
   * nothing is known.
   */
  private findMissing(): void {
    const { table } = this;
    const { rows, absent, notKnown } = table;
    for (const file of this.files) {
      const part = this.parts.get(file);
      const seen = part?.seen;
      if (seen?.size === rows) continue;
      const from = part?.from ?? Infinity;
      for (let row = 0; row < rows; row++)
        if (!seen?.has(row)) addFile(from <= table.columns.firstCalled[row]! ? absent : notKnown, row, file);
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
