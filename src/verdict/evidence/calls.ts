/** Looks up what a file saw begin. The index is made when it is first needed: most files are never asked. */

import type { TraceNs } from '../../base/time.js';
import type { ClusterCommunicator } from '../../cluster/types.js';
import { keyPosition, keyRing } from '../../model/record_fields.js';
import type { WorkTable } from '../../model/work_table.js';
import type { EnteredCall, RankCalls } from '../file_facts.js';

interface Table {
  readonly works: WorkTable;
  readonly communicators: readonly ClusterCommunicator[];
}

export function rankCalls({ works, communicators }: Table, time: (tick: number) => TraceNs): RankCalls {
  const ofComm = (commId: bigint, ranks?: readonly number[]): readonly ClusterCommunicator[] =>
    communicators.filter((comm) => comm.commId === commId && (ranks?.includes(comm.rank) ?? true));
  const numbersOf = (commId: bigint, ranks?: readonly number[]): ReadonlySet<number> =>
    new Set(ofComm(commId, ranks).map(({ number }) => number));
  let index: Map<string, number[]> | undefined;
  /** `number`: of a collective its seq, of a send or receive its peer. */
  const rowsOf = (func: string, isColl: boolean, number: number, ordinal: number): readonly number[] => {
    index ??= indexOf(works);
    return index.get(`${works.funcs.indexOf(func)} ${isColl} ${number} ${ordinal}`) ?? [];
  };
  const isAbsolute = (row: number): boolean => works.ordinalAbsolute[row] === 1;
  const call = (row: number | undefined): EnteredCall | null =>
    row === undefined
      ? null
      : {
          func: works.funcs[works.func[row]!]!,
          seq: works.seq[row]!,
          ordinal: works.ordinal[row]!,
          isAbsolute: isAbsolute(row),
          count: works.count[row]!,
          datatype: works.datatypes[works.datatype[row]!]!,
          root: works.root[row]! < 0 ? null : works.root[row]!,
          record: `${keyRing(works.keys[row]!)}:${keyPosition(works.keys[row]!)}`,
          at: time(works.arrival[row]!),
        };
  return {
    entered: (commId, { func, seq, ordinal }) => {
      const numbers = numbersOf(commId);
      const isIt = (row: number): boolean => isAbsolute(row) && numbers.has(works.comm[row]!);
      return call(rowsOf(func, true, seq, ordinal).findLast(isIt));
    },
    enteredAs: (commId, { func, seq, ordinal }) => {
      const numbers = new Set(rowsOf(func, true, seq, ordinal).map((row) => works.comm[row]!));
      return ofComm(commId)
        .filter(({ number }) => numbers.has(number))
        .map(({ rank }) => rank)
        .sort((a, b) => a - b);
    },
    hasTransfers: (commId) => {
      const numbers = numbersOf(commId);
      return works.comm.some((number, row) => works.seq[row]! < 0 && numbers.has(number));
    },
    transferred: (commId, { rank, func, peer, ordinal }) => {
      const numbers = numbersOf(commId, [rank]);
      return rowsOf(func, false, peer, ordinal).some(
        (row) => isAbsolute(row) && numbers.has(works.comm[row]!),
      );
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

/** Rows by function, number and ordinal, of all communicators. */
function indexOf({ func, seq, peer, ordinal }: WorkTable): Map<string, number[]> {
  const index = new Map<string, number[]>();
  for (let row = 0; row < seq.length; row++) {
    const isColl = seq[row]! >= 0;
    const key = `${func[row]} ${isColl} ${isColl ? seq[row] : peer[row]} ${ordinal[row]}`;
    const rows = index.get(key);
    if (rows) rows.push(row);
    else index.set(key, [row]);
  }
  return index;
}
