/** Looks up the work that began in a file. The index is made when it is first needed, because most files are never asked. */

import { entryOf } from '../../base/grouped.js';
import type { TraceNs } from '../../base/time.js';
import type { ClusterCommunicator } from '../../cluster/collective_types.js';
import { recordOf } from '../../model/handle_key.js';
import type { EndTimes } from '../../model/work_end_table.js';
import type { WorkTable } from '../../model/work_table.js';
import type { EnteredCall, RankCalls } from '../file_facts.js';
import { eachPassage } from './passages.js';

interface Table {
  readonly works: WorkTable;
  readonly workEnds: EndTimes;
  readonly communicators: readonly ClusterCommunicator[];
}

export function rankCalls(
  { works, workEnds, communicators }: Table,
  time: (tick: number) => TraceNs,
): RankCalls {
  const ofComm = (commId: bigint, ranks?: readonly number[]): readonly ClusterCommunicator[] =>
    communicators.filter((comm) => comm.commId === commId && (ranks?.includes(comm.rank) ?? true));
  const numbersOf = (commId: bigint, ranks?: readonly number[]): ReadonlySet<number> =>
    new Set(ofComm(commId, ranks).map(({ number }) => number));
  let index: WorkIndex | undefined;
  let pairs: ReturnType<typeof pairsOf> | undefined;
  /** `number`: of a collective its seq, of a send or receive its peer. */
  const rowsOf = (func: string, isColl: boolean, number: number, ordinal: number): readonly number[] => {
    index ??= new WorkIndex(works);
    return index.rows(works.funcs.indexOf(func), isColl, number, ordinal);
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
          record: recordOf(works.key[row]!),
          at: time(works.arrival[row]!),
        };
  /** Rows of one of the communicator's entries in this file. */
  const isOf = (commId: bigint, ranks?: readonly number[]): ((row: number) => boolean) => {
    const numbers = numbersOf(commId, ranks);
    return (row) => numbers.has(works.comm[row]!);
  };
  const isColl = (row: number): boolean => works.seq[row]! >= 0;
  return {
    entered: (commId, { func, seq, ordinal }) => {
      const isIt = isOf(commId);
      return call(rowsOf(func, true, seq, ordinal).findLast((row) => isAbsolute(row) && isIt(row)));
    },
    eachPassage: (commId, visit) => {
      eachPassage(works, workEnds, time, numbersOf(commId), visit);
    },
    enteredAs: (commId, { func, seq, ordinal }) => {
      const numbers = new Set(rowsOf(func, true, seq, ordinal).map((row) => works.comm[row]!));
      return ofComm(commId)
        .filter(({ number }) => numbers.has(number))
        .map(({ rank }) => rank)
        .sort((a, b) => a - b);
    },
    hasTransfers: (commId) => {
      const isIt = isOf(commId);
      return works.comm.findIndex((_, row) => !isColl(row) && isIt(row)) >= 0;
    },
    transfers: (comm) => (pairs ??= pairsOf(works)).get(comm) ?? [],
    transferred: (commId, { rank, func, peer, ordinal }) => {
      const isIt = isOf(commId, [rank]);
      return call(rowsOf(func, false, peer, ordinal).find((row) => isAbsolute(row) && isIt(row)));
    },
    oldest: (commId, from) => {
      const isIt = isOf(commId);
      const isLater = (row: number): boolean => time(works.arrival[row]!) >= from;
      const row = works.comm.findIndex((_, at) => isColl(at) && isIt(at) && isLater(at));
      return row < 0 ? null : call(row);
    },
    newest: (commId, ranks) => {
      const isIt = isOf(commId, ranks);
      for (let row = works.seq.length - 1; row >= 0; row--) if (isColl(row) && isIt(row)) return call(row);
      return null;
    },
  };
}

/** By number of the communicator. */
function pairsOf({ comm, seq, func, funcs, peer, ordinal, ordinalAbsolute }: WorkTable) {
  type Pairs = Map<string, { func: string; peer: number; count: number }>;
  const found = new Map<number, Pairs>();
  seq.forEach((number, row) => {
    if (number >= 0 || ordinalAbsolute[row] !== 1) return;
    const own = entryOf(found, comm[row]!, (): Pairs => new Map());
    const one = { func: funcs[func[row]!]!, peer: peer[row]! };
    const key = `${one.func} ${one.peer}`;
    own.set(key, { ...one, count: Math.max(own.get(key)?.count ?? 0, ordinal[row]! + 1) });
  });
  return new Map([...found].map(([number, own]) => [number, [...own.values()]]));
}

/** Rows by function, number and ordinal, of all communicators. Sorted rows, because a long run has millions. */
class WorkIndex {
  /** By row: the sequence number of a collective, the peer of a send or receive. */
  private readonly numbers: Float64Array;
  private readonly order: Uint32Array;

  constructor(private readonly works: WorkTable) {
    const { seq, peer } = works;
    this.numbers = Float64Array.from({ length: seq.length }, (_, row) => {
      const number = seq[row]!;
      return number >= 0 ? number : peer[row]!;
    });
    this.order = Uint32Array.from(this.numbers, (_, row) => row);
    this.order.sort((a, b) => this.compare(a, this.numbers[b]!, works.ordinal[b]!) || a - b);
  }

  /** In the order of the table. */
  rows(func: number, isColl: boolean, number: number, ordinal: number): number[] {
    const { order, works } = this;
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(order[middle]!, number, ordinal) < 0) low = middle + 1;
      else high = middle;
    }
    const found: number[] = [];
    for (; low < order.length && this.compare(order[low]!, number, ordinal) === 0; low++) {
      const row = order[low]!;
      if (works.func[row] === func && works.seq[row]! >= 0 === isColl) found.push(row);
    }
    return found;
  }

  private compare(row: number, number: number, ordinal: number): number {
    return this.numbers[row]! - number || this.works.ordinal[row]! - ordinal;
  }
}
