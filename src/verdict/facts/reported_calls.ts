/**
 * The calls of a file's ranks if NCCL does not report calls (before 2.28), or if calls were not requested. The collectives (Coll) of all
 * ranks have the same order, because NCCL sorts the collectives of a group in the same way on every rank. The calls are not known if
 * several threads use one communicator, or if graphs are replayed, because another thread begins the replays.
 */

import type { TraceNs } from '../../base/time.js';
import type { CallShape } from '../../model/call_table.js';
import type { EverMuted } from '../../model/control.js';
import { keyRing, recordOf } from '../../model/handle_key.js';
import { EventType } from '../../rankfile/format/nccl.js';
import type { HostCalls } from '../file_facts.js';
import type { RankScan } from '../../scan/scan.js';

/** By communicator. If the sampling changed, a call that is missing proves nothing. */
export function reportedCalls(
  { header, communicators, works, hostWindow }: RankScan,
  muted: EverMuted,
  time: (tick: number) => TraceNs,
): ReadonlyMap<number, HostCalls> {
  const isRecorded =
    (header.eventMask & ~muted.events & EventType.Coll) !== 0 && header.sampleEvery === 1 && !muted.sampling;
  if (!isRecorded || hostWindow === null || works.comm.findIndex((number) => number === -1) >= 0)
    return new Map();
  const known = communicators.flatMap(({ number, init }): [number, HostCalls][] => {
    const rows: number[] = [];
    works.comm.forEach((comm, row) => {
      if (comm === number && works.seq[row]! >= 0 && works.arrival[row]! >= hostWindow) rows.push(row);
    });
    const threads = new Set(rows.map((row) => keyRing(works.key[row]!)));
    const isReplay = (row: number): boolean => works.ordinal[row]! > 0 || works.ordinalAbsolute[row] === 0;
    if (threads.size > 1 || rows.some(isReplay)) return [];
    const numbers = rows.map((row) => ({
      func: works.funcs[works.func[row]!]!,
      seq: works.seq[row]!,
      ordinal: works.ordinal[row]!,
    }));
    const calls: HostCalls = {
      ...shapesOf(rows, works),
      isWhole: hostWindow === 0 || (init ?? 0) >= hostWindow,
      begins: new Uint8Array(rows.length).fill(1),
      isLastOpen: false,
      until: Infinity as TraceNs,
      at: (call) => time(works.arrival[rows[call]!]!),
      record: (call) => recordOf(works.key[rows[call]!]!),
      reported: (most) => numbers.slice(Math.max(0, numbers.length - most)),
    };
    return [[number, calls]];
  });
  return new Map(known);
}

/** Each shape once, and the shape of each row. */
function shapesOf(
  rows: readonly number[],
  { func, funcs, count, datatype, datatypes, root }: RankScan['works'],
): Pick<HostCalls, 'shapes' | 'shape'> {
  const shapes: CallShape[] = [];
  const known = new Map<string, number>();
  const shape = Uint32Array.from(rows, (row) => {
    const key = `${func[row]!} ${count[row]!} ${datatype[row]!} ${root[row]!}`;
    const number = known.get(key) ?? known.size;
    if (number === known.size) {
      known.set(key, number);
      shapes.push({
        func: funcs[func[row]!]!,
        count: count[row]!,
        datatype: datatypes[datatype[row]!]!,
        root: root[row]! < 0 ? null : root[row]!,
      });
    }
    return number;
  });
  return { shapes, shape };
}
