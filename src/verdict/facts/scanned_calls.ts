/**
 * For the verdict: the calls of a file's ranks (CollApi) from the point on where none is lost, and the collectives that NCCL made of them.
 */

import { narrow } from '../../base/columns.js';
import type { TraceNs } from '../../base/time.js';
import { EventType } from '../../rankfile/format/nccl.js';
import type { CommCalls } from '../../model/call_table.js';
import type { EverMuted } from '../../model/control.js';
import { recordOf } from '../../model/handle_key.js';
import type { CallNumber, HostCalls } from '../file_facts.js';
import type { RankScan } from '../../scan/scan.js';

/** NCCL reports calls from this version of the interface on. */
const FIRST_ABI = 5;
/** The group's own event shows which calls it contains. */
const NEEDED = EventType.CollApi | EventType.GroupApi;
const NO_CALLS: CommCalls = {
  shape: new Uint32Array(0),
  at: narrow([]),
  keys: narrow([]),
  begins: new Uint8Array(0),
  lastOther: -1,
  hasCaptured: false,
  knownFrom: 0,
  isLastOpen: false,
};

const asksForCalls = ({ eventMask }: RankScan['header'], muted: EverMuted): boolean =>
  (eventMask & ~muted.events & NEEDED) === NEEDED;

/** NCCL reports calls of at least one communicator, and they were requested. */
export const hasHostCalls = ({ header, communicators }: RankScan, muted: EverMuted): boolean =>
  asksForCalls(header, muted) && communicators.some(({ abi }) => abi >= FIRST_ABI);

/**
 * Per communicator: the calls after the last lost one. A graph's calls are left out,
 * because NCCL does not report their runs.
 */
export function hostCalls(
  { header, communicators, calls, works, hostWindow }: RankScan,
  muted: EverMuted,
  time: (tick: number) => TraceNs,
): ReadonlyMap<number, HostCalls> {
  if (!asksForCalls(header, muted) || hostWindow === null || calls.unknownComms > 0) return new Map();
  const known = communicators.flatMap(({ number, abi, init }): [number, HostCalls][] => {
    const found = calls.comms.get(number) ?? NO_CALLS;
    if (abi < FIRST_ABI || found.hasCaptured) return [];
    const isWhole = found.knownFrom === 0 && (hostWindow === 0 || (init ?? 0) >= hostWindow);
    const first = isWhole ? 0 : firstKnown(found, hostWindow);
    const { at, keys } = found;
    // From here NCCL reported more than was called, such as replays of a graph whose calls are lost.
    const since = first < found.shape.length ? at[first]! : Infinity;
    if (!isWhole && found.lastOther >= since) return [];
    const one: HostCalls = {
      isWhole,
      shapes: calls.shapes,
      shape: found.shape.subarray(first),
      begins: found.begins.subarray(first),
      isLastOpen: found.isLastOpen,
      until: calls.until === Infinity ? (Infinity as TraceNs) : time(calls.until),
      at: (call) => time(at[first + call]!),
      record: (call) => recordOf(keys[first + call]!),
      reported: (most) => newestReported(found, Math.max(first, found.shape.length - most), number, works),
    };
    return [[number, one]];
  });
  return new Map(known);
}

/** After the first group, which may have begun earlier. */
function firstKnown({ at, begins, knownFrom, shape }: CommCalls, window: number): number {
  let first = knownFrom;
  while (first < shape.length && at[first]! < window) first++;
  do first++;
  while (first < shape.length && begins[first] !== 1);
  return Math.min(first, shape.length);
}

/** What NCCL reported of the calls from `from` on. A Coll gives the time of its call. */
function newestReported(
  { at, shape }: CommCalls,
  from: number,
  number: number,
  { comm, seq, arrival, ordinal, ordinalAbsolute, func, funcs }: RankScan['works'],
): readonly (CallNumber | null)[] {
  const calls = new Map<number, number>();
  for (let call = shape.length - 1; call >= from; call--) calls.set(at[call]!, call - from);
  const numbers = Array.from({ length: shape.length - from }, (): CallNumber | null => null);
  const first = numbers.length > 0 ? at[from]! : Infinity;
  // Only the newest works are needed, and the works of a communicator come in order.
  for (let row = seq.length - 1; row >= 0; row--) {
    if (comm[row] !== number || seq[row]! < 0) continue;
    const tick = arrival[row]!;
    if (tick < first) break;
    const call = calls.get(tick);
    calls.delete(tick);
    if (call === undefined || ordinalAbsolute[row] === 0) continue;
    numbers[call] = {
      func: funcs[func[row]!]!,
      seq: seq[row]!,
      ordinal: ordinal[row]!,
    };
  }
  return numbers;
}
