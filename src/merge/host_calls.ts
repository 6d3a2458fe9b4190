/** What a file's ranks called (CollApi), as far as none of it is lost, for the verdict; and which collectives NCCL made of it. */

import type { TraceNs } from '../base/time.js';
import { EventType } from '../format/nccl.js';
import type { CommCalls } from '../model/call_table.js';
import { keyPosition, keyRing } from '../model/record_fields.js';
import type { CallNumber, HostCalls } from '../verdict/types.js';
import type { RankScan } from './scan.js';

/** NCCL tells of calls from this version of the interface on. */
const FIRST_ABI = 5;
/** Which calls were in one group is told by the group's own event. */
const NEEDED = EventType.CollApi | EventType.GroupApi;
const NO_CALLS: CommCalls = {
  shape: new Uint32Array(0),
  at: new Float64Array(0),
  keys: new Float64Array(0),
  begins: new Uint8Array(0),
  hasCaptured: false,
  knownFrom: 0,
  isLastOpen: false,
};

/**
 * Of each communicator the calls from one on after which none is lost. `muted`: event types that were not recorded at times. A graph's
 * calls are none: when they run, and how often, is not told.
 */
export function hostCalls(
  { header, communicators, calls, works, hostWindow }: RankScan,
  muted: number,
  time: (tick: number) => TraceNs,
): ReadonlyMap<number, HostCalls> {
  const asked = header.eventMask & ~muted & NEEDED;
  if (asked !== NEEDED || hostWindow === null || calls.nameless > 0) return new Map();
  const known = communicators.flatMap(({ number, abi, initTick }): [number, HostCalls][] => {
    const found = calls.comms.get(number) ?? NO_CALLS;
    if (abi < FIRST_ABI || found.hasCaptured) return [];
    const isWhole = found.knownFrom === 0 && (hostWindow === 0 || initTick >= hostWindow);
    const first = isWhole ? 0 : firstKnown(found, hostWindow);
    const { at, keys } = found;
    const collectives = new CollectivesOfCalls(works, number, at);
    if (!isWhole && collectives.hasOthers(at[first] ?? Infinity, calls.until)) return [];
    const one: HostCalls = {
      isWhole,
      shapes: calls.shapes,
      shape: found.shape.subarray(first),
      begins: found.begins.subarray(first),
      isLastOpen: found.isLastOpen,
      until: calls.until === Infinity ? (Infinity as TraceNs) : time(calls.until),
      at: (call) => time(at[first + call]!),
      record: (call) => `${keyRing(keys[first + call]!)}:${keyPosition(keys[first + call]!)}`,
      collective: (call) => collectives.of(first + call),
      find: (wanted) => {
        const call = collectives.callOf(wanted);
        return call === null || call < first ? null : call - first;
      },
    };
    return [[number, one]];
  });
  return new Map(known);
}

/** Behind the first group, which may have begun before. */
function firstKnown({ at, begins, knownFrom }: CommCalls, window: number): number {
  let first = knownFrom;
  while (first < at.length && at[first]! < window) first++;
  do first++;
  while (first < at.length && begins[first] !== 1);
  return Math.min(first, at.length);
}

/** What NCCL told of the calls of a communicator, where it did: a Coll says when its call was made. */
class CollectivesOfCalls {
  private rowsOfComm: readonly number[] | undefined;

  /** `at`: of the calls, ascending. */
  constructor(
    private readonly works: RankScan['works'],
    private readonly comm: number,
    private readonly at: Float64Array,
  ) {}

  of(call: number): CallNumber | null {
    const row = this.rows.findLast((one) => this.works.arrival[one] === this.at[call]);
    return row === undefined || this.works.ordinalAbsolute[row] === 0 ? null : this.numberOf(row);
  }

  callOf({ func, seq, ordinal }: CallNumber): number | null {
    const row = this.rows.findLast((one) => {
      const own = this.numberOf(one);
      return own.seq === seq && own.ordinal === ordinal && own.func === func;
    });
    if (row === undefined || this.works.ordinalAbsolute[row] === 0) return null;
    return this.callAt(this.works.arrival[row]!);
  }

  /** Between these more was told than was called: replays of a graph whose calls are lost, say. */
  hasOthers(from: number, until: number): boolean {
    const { arrival } = this.works;
    const end = until === Infinity ? Infinity : (this.at.at(-1) ?? -Infinity);
    return this.rows.some(
      (row) => arrival[row]! >= from && arrival[row]! <= end && this.callAt(arrival[row]!) === null,
    );
  }

  private get rows(): readonly number[] {
    const { comm, seq } = this.works;
    this.rowsOfComm ??= Array.from(comm.keys()).filter((row) => comm[row] === this.comm && seq[row]! >= 0);
    return this.rowsOfComm;
  }

  private callAt(tick: number): number | null {
    let [from, end] = [0, this.at.length];
    while (from < end) {
      const middle = (from + end) >>> 1;
      if (this.at[middle]! < tick) from = middle + 1;
      else end = middle;
    }
    return this.at[from] === tick ? from : null;
  }

  private numberOf(row: number): CallNumber {
    const { funcs, func, seq, ordinal } = this.works;
    return { func: funcs[func[row]!]!, seq: seq[row]!, ordinal: ordinal[row]! };
  }
}
