/** Looks up what a file saw begin. Only files that are asked often get an index. */

import type { TraceNs } from '../../base/time.js';
import { keyPosition, keyRing } from '../../model/record_fields.js';
import type { EnteredCall, RankCalls } from '../types.js';
import type { RankScan } from '../../scan/scan.js';

const OFTEN = 16;

export function rankCalls({ works, communicators }: RankScan, time: (tick: number) => TraceNs): RankCalls {
  const ofComm = (commId: bigint, ranks?: readonly number[]) =>
    communicators.filter((comm) => comm.commId === commId && (ranks?.includes(comm.rank) ?? true));
  const numbersOf = (commId: bigint, ranks?: readonly number[]): ReadonlySet<number> =>
    new Set(ofComm(commId, ranks).map(({ number }) => number));
  let asked = 0;
  let index: Map<string, number> | undefined;
  /** Numbers of communicators, by collective. */
  let enteredIn: Map<string, Set<number>> | undefined;
  let askedTransfers = 0;
  let transfers: Set<string> | undefined;
  const transferOf = (comm: number, func: number, peer: number, ordinal: number): string =>
    `${comm} ${func} ${peer} ${ordinal}`;
  const callOf = (func: number, seq: number, ordinal: number): string => `${func} ${seq} ${ordinal}`;
  const keyOf = (row: number): string =>
    `${works.comm[row]} ${works.func[row]} ${works.seq[row]} ${works.ordinal[row]}`;
  const isAbsolute = (row: number): boolean => works.ordinalAbsolute[row] === 1;
  const call = (row: number): EnteredCall => ({
    func: works.funcs[works.func[row]!]!,
    seq: works.seq[row]!,
    ordinal: works.ordinal[row]!,
    isAbsolute: isAbsolute(row),
    count: works.count[row]!,
    datatype: works.datatypes[works.datatype[row]!]!,
    root: works.root[row]! < 0 ? null : works.root[row]!,
    record: `${keyRing(works.keys[row]!)}:${keyPosition(works.keys[row]!)}`,
    at: time(works.arrival[row]!),
  });
  return {
    entered: (commId, wanted) => {
      const numbers = numbersOf(commId);
      const func = works.funcs.indexOf(wanted.func);
      if (asked++ < OFTEN) {
        for (let row = works.seq.length - 1; row >= 0; row--)
          if (
            works.seq[row] === wanted.seq &&
            works.func[row] === func &&
            works.ordinal[row] === wanted.ordinal &&
            isAbsolute(row) &&
            numbers.has(works.comm[row]!)
          )
            return call(row);
        return null;
      }
      index ??= new Map(
        Array.from(works.seq, (_, row) => [keyOf(row), row] as const).filter(([, row]) => isAbsolute(row)),
      );
      for (const number of numbers) {
        const row = index.get(`${number} ${func} ${wanted.seq} ${wanted.ordinal}`);
        if (row !== undefined) return call(row);
      }
      return null;
    },
    enteredAs: (commId, { func, seq, ordinal }) => {
      // Asked for each collective without a known end: one pass over the table serves all.
      if (!enteredIn) {
        enteredIn = new Map();
        for (let row = 0; row < works.seq.length; row++) {
          const key = callOf(works.func[row]!, works.seq[row]!, works.ordinal[row]!);
          const numbers = enteredIn.get(key);
          if (numbers) numbers.add(works.comm[row]!);
          else enteredIn.set(key, new Set([works.comm[row]!]));
        }
      }
      const numbers = enteredIn.get(callOf(works.funcs.indexOf(func), seq, ordinal));
      return ofComm(commId)
        .filter(({ number }) => numbers?.has(number) === true)
        .map(({ rank }) => rank)
        .sort((a, b) => a - b);
    },
    hasTransfers: (commId) => {
      const numbers = numbersOf(commId);
      return works.comm.some((number, row) => works.seq[row]! < 0 && numbers.has(number));
    },
    transferred: (commId, { rank, func, peer, ordinal }) => {
      const numbers = numbersOf(commId, [rank]);
      const number = works.funcs.indexOf(func);
      if (askedTransfers++ < OFTEN) {
        for (let row = works.seq.length - 1; row >= 0; row--)
          if (
            works.peer[row] === peer &&
            works.ordinal[row] === ordinal &&
            works.func[row] === number &&
            works.seq[row]! < 0 &&
            isAbsolute(row) &&
            numbers.has(works.comm[row]!)
          )
            return true;
        return false;
      }
      if (!transfers) {
        transfers = new Set();
        for (let row = 0; row < works.seq.length; row++)
          if (works.seq[row]! < 0 && isAbsolute(row))
            transfers.add(
              transferOf(works.comm[row]!, works.func[row]!, works.peer[row]!, works.ordinal[row]!),
            );
      }
      for (const comm of numbers) if (transfers.has(transferOf(comm, number, peer, ordinal))) return true;
      return false;
    },
    oldest: (commId, from) => {
      const numbers = numbersOf(commId);
      for (let row = 0; row < works.seq.length; row++)
        if (works.seq[row]! >= 0 && numbers.has(works.comm[row]!) && time(works.arrival[row]!) >= from)
          return call(row);
      return null;
    },
    newest: (commId, ranks) => {
      const numbers = numbersOf(commId, ranks);
      for (let row = works.seq.length - 1; row >= 0; row--)
        if (works.seq[row]! >= 0 && numbers.has(works.comm[row]!)) return call(row);
      return null;
    },
  };
}
