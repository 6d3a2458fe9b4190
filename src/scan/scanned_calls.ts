/**
 * The application's calls, from the kernel's rows: the collectives of each communicator in order (CallTable), calls for which NCCL reported
 * nothing else (in a hang such a call may be the only evidence), and calls that have not returned.
 */

import { firstIndex } from '../base/first_index.js';
import { addTo } from '../base/grouped.js';
import { narrow } from '../base/columns.js';
import type { Ticks } from '../base/time.js';
import { known, type Numbers } from '../kernel/host/numbers.js';
import { ApiCall, CollCall, CommCallsRow, InsideRow, ShapeRow } from '../kernel/result_rows.js';
import type { CallTable, CommCalls } from '../model/call_table.js';
import { recordOf } from '../model/handle_key.js';
import type { InsideCall } from '../model/pending.js';
import type { LostAfter } from '../model/lost_ends.js';
import { hasRoot } from '../model/roots.js';
import type { WorkTable } from '../model/work_table.js';
import type { Kept } from './scanned_works.js';

/** As src/kernel/event.ts numbers them. */
const P2P_API = 3;
/** As src/kernel/calls.ts has them. */
const [BEGINS, OVERLAPS] = [1, 2];

export type CallRows = ReturnType<typeof readCalls>;

export function readCalls(numbers: Numbers) {
  return {
    /** Rings of threads that called NCCL. */
    callers: numbers.bits(),
    unknownComms: numbers.next(),
    copyColls: numbers.next(),
    shapes: numbers.rows(ShapeRow),
    comms: numbers.rows(CommCallsRow),
    colls: numbers.table(CollCall),
    /** Keys of groups that have not ended. */
    openGroups: new Set(numbers.list(() => numbers.next())),
    apis: numbers.table(ApiCall),
    inside: numbers.rows(InsideRow),
  };
}

type Text = (id: number) => string;

/** The calls on one communicator, in order. */
interface Draft {
  readonly comm: CommCallsRow;
  readonly at: Float64Array;
  readonly rows: readonly number[];
}

/** `until`: see CallTable. `works`: what NCCL reported. */
export function callTable(rows: CallRows, until: number, works: WorkTable, text: Text): CallTable {
  const byComm = new Map<number, number[]>();
  rows.colls.comm.forEach((comm, row) => {
    addTo(byComm, comm, row);
  });
  const drafts = new Map(
    rows.comms.map((comm): [number, Draft] => {
      const own = byComm.get(comm.comm) ?? [];
      return [comm.comm, { comm, rows: own, at: Float64Array.from(own, (row) => rows.colls.at[row]!) }];
    }),
  );
  const others = lastOthers(drafts, until, works);
  const makeShapes = rows.shapes.length > 0x10000 ? Uint32Array : Uint16Array;
  return {
    shapes: rows.shapes.map(({ func, count, datatype, root }) => ({
      func: text(func),
      count,
      datatype: text(datatype),
      root: known(root),
    })),
    comms: new Map(
      [...drafts].map(([number, draft]) => {
        const end = endOfCalls(draft, rows, until);
        const shape = makeShapes.from(draft.rows.slice(0, end).map((row) => rows.colls.shape[row]!));
        return [number, { ...finished(draft, rows, end), shape, lastOther: others.get(number) ?? -1 }];
      }),
    ),
    unknownComms: rows.unknownComms,
    until,
  };
}

function finished(
  { comm, at, rows: own }: Draft,
  { colls }: CallRows,
  end: number,
): Omit<CommCalls, 'shape' | 'lastOther'> {
  const rows = own.slice(0, end);
  const overlap = rows.findLastIndex((row) => (colls.flags[row]! & OVERLAPS) !== 0);
  return {
    at: narrow(at.subarray(0, end)),
    keys: narrow(Float64Array.from(rows, (row) => colls.key[row]!)),
    begins: Uint8Array.from(rows, (row) => colls.flags[row]! & BEGINS),
    hasCaptured: comm.hasCaptured === 1,
    knownFrom: Math.min(end, Math.max(comm.knownFrom, overlap + 1)),
    isLastOpen: end === comm.calls && comm.isLastOpen === 1,
  };
}

/** Leaves out the group open at `until`: more calls may belong to it. */
function endOfCalls({ at, rows }: Draft, { colls }: CallRows, until: number): number {
  if (until === Infinity) return at.length;
  let end = at.findIndex((tick) => tick > until);
  if (end < 0) return at.length;
  while (end > 0 && (colls.flags[rows[end]!]! & BEGINS) === 0) end--;
  return end;
}

/** By number of the communicator: the last collective up to `until` that NCCL reported without a call in this table. */
function lastOthers(
  drafts: ReadonlyMap<number, Draft>,
  until: number,
  { comm, seq, arrival }: WorkTable,
): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (let row = 0; row < seq.length; row++) {
    if (seq[row]! < 0) continue;
    const number = comm[row]!;
    const calls = drafts.get(number)?.at;
    const tick = arrival[row]!;
    if (until !== Infinity && tick > (calls?.at(-1) ?? -Infinity)) continue;
    if (!calls || !hasCallAt(calls, tick)) last.set(number, Math.max(last.get(number) ?? -1, tick));
  }
  return last;
}

/** Whether a call began at that tick. */
function hasCallAt(calls: Float64Array, tick: number): boolean {
  const first = firstIndex(calls.length, (call) => calls[call]! >= tick);
  return first < calls.length && calls[first] === tick;
}

/** Calls without further events, by row: the name of the function. `kept`: whether the records after a call were read. */
export function bareCalls(
  { apis, openGroups }: CallRows,
  kept: Kept,
  text: Text,
): ReadonlyMap<number, string> {
  const bare = new Map<number, string>();
  apis.at.forEach((at, row) => {
    // The work of a call in an open group may still come.
    if (at >= kept.from && kept.isRead(at) && !openGroups.has(apis.group[row]!))
      bare.set(row, text(apis.func[row]!));
  });
  return bare;
}

/** The first call of each thread and communicator. */
export function insideCalls({ inside }: CallRows, lostAfter: LostAfter, text: Text): InsideCall<Ticks>[] {
  const byThread = new Map<string, InsideRow[]>();
  for (const call of inside) {
    const { comm, isCaptured, ring, at } = call;
    if (comm >= 0 && isCaptured === 0 && lostAfter(ring, at) === 0) addTo(byThread, `${ring} ${comm}`, call);
  }
  return [...byThread.values()].map((calls) => {
    const { comm, func, datatype, kind, count, root, at, key } = calls.reduce((a, b) =>
      b.at < a.at ? b : a,
    );
    return {
      comm,
      func: text(func),
      isTransfer: kind === P2P_API,
      count,
      datatype: text(datatype),
      root: hasRoot(text(func)) ? root : null,
      at: at as Ticks,
      record: recordOf(key),
    };
  });
}
