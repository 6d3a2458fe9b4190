/**
 * The collectives that a process called (CollApi), per communicator and in order. The table has a call even if NCCL reported no Coll for
 * it. Ranks must make the same calls in the same order. The order within a group does not matter.
 */

import { withRows } from '../base/columns.js';
import { firstIndex } from '../base/first_index.js';
import { isLostText } from '../base/lost_text.js';
import { numberAt, packNumbers, type PackedNumbers } from '../base/packed_numbers.js';
import type { HostSpan } from './host_span.js';
import { hasRoot } from './roots.js';
import type { WorkTable } from './work_table.js';

/** What was called. Many calls share one shape. */
export interface CallShape {
  readonly func: string;
  /** As the application called it: elements, for AllGather per rank. */
  readonly count: number;
  readonly datatype: string;
  /** Rank in the communicator; null if the function has no root. */
  readonly root: number | null;
}

/** One row per call of a communicator. */
export interface CommCalls {
  /** Index into the file's shapes. */
  readonly shape: Uint16Array | Uint32Array;
  /** Ticks. */
  readonly at: PackedNumbers;
  /** Keys of the start records. */
  readonly keys: PackedNumbers;
  /** 1: in another group than the call before. */
  readonly begins: Uint8Array;
  /** A call was recorded into a graph. The graph's replays are not in the table. */
  readonly hasCaptured: boolean;
  /** From this call on, all groups and names are known. */
  readonly knownFrom: number;
  /** Ticks: the last collective up to `until` that NCCL reported without a call in this table. -1: none. */
  readonly lastOther: number;
  /** The last call's group had not ended, so more calls may belong to it. */
  readonly isLastOpen: boolean;
}

export interface CallTable {
  readonly shapes: readonly CallShape[];
  /** By number of the communicator. */
  readonly comms: ReadonlyMap<number, CommCalls>;
  /** Calls of unknown communicators. */
  readonly unknownComms: number;
  /** Ticks: the file holds the calls of all threads up to here. Later calls are not in the table. */
  readonly until: number;
}

const FIRST_ROWS = 64;

const emptyColumns = () => ({
  shape: new Uint32Array(0),
  at: new Float64Array(0),
  /** Keys of the start records. */
  keys: new Float64Array(0),
  begins: new Uint8Array(0),
});

interface Draft {
  columns: ReturnType<typeof emptyColumns>;
  calls: number;
  /** Calls made while another thread had a group open: their order is not known. */
  readonly overlaps: number[];
  group: HostSpan | null;
  hasCaptured: boolean;
  knownFrom: number;
}

export class CallTableBuilder {
  private readonly shapes = new Map<string, CallShape & { readonly number: number }>();
  private readonly drafts = new Map<number, Draft>();
  private readonly callers = new Set<number>();
  private unknownComms = 0;

  /** Rings of threads that called NCCL. */
  get callingRings(): ReadonlySet<number> {
    return this.callers;
  }

  add(span: HostSpan): void {
    if (CALLS.has(span.kind)) this.callers.add(span.ring);
    if (span.kind !== 'CollApi') return;
    if (span.comm === null) {
      this.unknownComms++;
      return;
    }
    const draft = this.draft(span.comm.number);
    const call = draft.calls++;
    const begins = call === 0 || span.parent !== draft.group;
    if (begins && overlapsLast(span, draft, call)) draft.overlaps.push(call);
    if (call === draft.columns.at.length) draft.columns = withRows(draft.columns, 2 * call);
    const { columns } = draft;
    columns.begins[call] = Number(begins);
    columns.shape[call] = this.shapeOf(span);
    columns.at[call] = span.start;
    columns.keys[call] = span.key;
    draft.group = span.parent;
    if (span.graphCaptured) draft.hasCaptured = true;
    if (span.parent === null || isLostText(span.func) || isLostText(span.datatype))
      draft.knownFrom = draft.calls;
  }

  /** `until`: see CallTable. `works`: what NCCL reported. */
  finish(until: number, works: WorkTable): CallTable {
    const others = this.lastOthers(until, works);
    const makeShapes = this.shapes.size > 0x10000 ? Uint32Array : Uint16Array;
    return {
      shapes: [...this.shapes.values()].map(({ func, count, datatype, root }) => ({
        func,
        count,
        datatype,
        root,
      })),
      comms: new Map(
        [...this.drafts].map(([number, draft]) => {
          const end = endOfCalls(draft, until);
          const shape = makeShapes.from(draft.columns.shape.subarray(0, end));
          return [number, { ...finished(draft, end), shape, lastOther: others.get(number) ?? -1 }];
        }),
      ),
      unknownComms: this.unknownComms,
      until,
    };
  }

  /** By number of the communicator. */
  private lastOthers(until: number, { comm, seq, arrival }: WorkTable): Map<number, number> {
    const last = new Map<number, number>();
    for (let row = 0; row < seq.length; row++) {
      if (numberAt(seq, row) < 0) continue;
      const number = numberAt(comm, row);
      const draft = this.drafts.get(number);
      const tick = numberAt(arrival, row);
      if (until !== Infinity && tick > (draft?.columns.at[draft.calls - 1] ?? -Infinity)) continue;
      if (!draft || !hasCallAt(draft, tick)) last.set(number, Math.max(last.get(number) ?? -1, tick));
    }
    return last;
  }

  private draft(comm: number): Draft {
    let draft = this.drafts.get(comm);
    if (!draft) {
      const columns = withRows(emptyColumns(), FIRST_ROWS);
      draft = { columns, calls: 0, overlaps: [], group: null, hasCaptured: false, knownFrom: 0 };
      this.drafts.set(comm, draft);
    }
    return draft;
  }

  private shapeOf({ func, count, datatype, facts }: HostSpan): number {
    const root = facts?.kind === 'Api' && hasRoot(func) ? facts.root : null;
    const key = `${func} ${count} ${datatype} ${root}`;
    const known = this.shapes.get(key);
    if (known) return known.number;
    const number = this.shapes.size;
    this.shapes.set(key, { func, count, datatype, root, number });
    return number;
  }
}

const CALLS: ReadonlySet<HostSpan['kind']> = new Set(['GroupApi', 'CollApi', 'P2pApi']);

function finished(draft: Draft, end: number): Omit<CommCalls, 'shape' | 'lastOther'> {
  const { columns, calls, hasCaptured, group } = draft;
  const { at, keys, begins } = columns;
  const overlap = draft.overlaps.findLast((call) => call < end) ?? -1;
  return {
    at: packNumbers(at, end),
    keys: packNumbers(keys, end),
    begins: begins.slice(0, end),
    hasCaptured,
    knownFrom: Math.min(end, Math.max(draft.knownFrom, overlap + 1)),
    isLastOpen: end === calls && group !== null && isOpen(group),
  };
}

/** Whether a call began at that tick. */
function hasCallAt({ columns: { at }, calls }: Draft, tick: number): boolean {
  const first = firstIndex(calls, (call) => at[call]! >= tick);
  return first < calls && at[first] === tick;
}

/** Leaves out the group open at `until`: more calls may belong to it. */
function endOfCalls({ columns: { at, begins }, calls }: Draft, until: number): number {
  if (until === Infinity) return calls;
  let end = at.subarray(0, calls).findIndex((tick) => tick > until);
  if (end < 0) return calls;
  while (end > 0 && begins[end] !== 1) end--;
  return end;
}

/** Two threads are in groups of one communicator at once. */
function overlapsLast({ parent }: HostSpan, { columns: { at }, group }: Draft, call: number): boolean {
  if (call === 0) return false;
  const last = at[call - 1]!;
  return (parent !== null && parent.start < last) || (group !== null && isOpen(group));
}

/** A call outside of ncclGroupStart and ncclGroupEnd has a group of its own, of depth 1. */
const isOpen = ({ stop, ending, facts }: HostSpan): boolean =>
  stop === null && ending === null && !(facts?.kind === 'GroupApi' && facts.depth <= 1);
