/** Looks up what a file saw begin. Few files are asked more than a few times: only those get an index. */

import type { TraceNs } from '../base/time.js';
import { keyPosition, keyRing } from '../model/record_fields.js';
import type { CallNumber, EnteredCall, RankCalls } from '../verdict/types.js';
import type { RankScan } from './scan.js';

/** So many questions the whole table is gone through for; then an index pays. */
const OFTEN = 16;

export const rankCalls = (scan: CallSource, time: ToTime): RankCalls => new SeenCalls(scan, time);

type CallSource = Pick<RankScan, 'works' | 'communicators'>;
type ToTime = (tick: number) => TraceNs;

class SeenCalls implements RankCalls {
  private asked = 0;
  /** Row, by communicator and call. */
  private rows: Map<string, number> | undefined;
  /** Numbers of communicators, by call. */
  private comms: Map<string, Set<number>> | undefined;

  constructor(
    private readonly scan: CallSource,
    private readonly time: ToTime,
  ) {}

  entered(commId: bigint, wanted: CallNumber): EnteredCall | null {
    const numbers = this.numbersOf(commId);
    return this.asked++ < OFTEN ? this.search(numbers, wanted) : this.lookUp(numbers, wanted);
  }

  enteredAs(commId: bigint, { func, seq, ordinal }: CallNumber): readonly number[] {
    // Asked of each collective whose end is not known: one pass over the table for all of them.
    this.comms ??= this.commsByCall();
    const numbers = this.comms.get(callKey(this.scan.works.funcs.indexOf(func), seq, ordinal));
    return this.commsOf(commId)
      .filter(({ number }) => numbers?.has(number) === true)
      .map(({ rank }) => rank)
      .sort((a, b) => a - b);
  }

  oldest(commId: bigint, from: TraceNs): EnteredCall | null {
    const { seq, comm, arrival } = this.scan.works;
    const numbers = this.numbersOf(commId);
    for (let row = 0; row < seq.length; row++)
      if (seq[row]! >= 0 && numbers.has(comm[row]!) && this.time(arrival[row]!) >= from)
        return this.call(row);
    return null;
  }

  newest(commId: bigint, ranks?: readonly number[]): EnteredCall | null {
    const { seq, comm } = this.scan.works;
    const numbers = this.numbersOf(commId, ranks);
    for (let row = seq.length - 1; row >= 0; row--)
      if (seq[row]! >= 0 && numbers.has(comm[row]!)) return this.call(row);
    return null;
  }

  private search(numbers: ReadonlySet<number>, wanted: CallNumber): EnteredCall | null {
    const { comm, func, funcs, seq, ordinal } = this.scan.works;
    const wantedFunc = funcs.indexOf(wanted.func);
    for (let row = seq.length - 1; row >= 0; row--)
      if (
        seq[row] === wanted.seq &&
        func[row] === wantedFunc &&
        ordinal[row] === wanted.ordinal &&
        this.isAbsolute(row) &&
        numbers.has(comm[row]!)
      )
        return this.call(row);
    return null;
  }

  private lookUp(numbers: ReadonlySet<number>, { func, seq, ordinal }: CallNumber): EnteredCall | null {
    const { works } = this.scan;
    this.rows ??= new Map(
      Array.from(works.seq, (_, row) => [`${works.comm[row]} ${this.keyOf(row)}`, row] as const).filter(
        ([, row]) => this.isAbsolute(row),
      ),
    );
    for (const number of numbers) {
      const row = this.rows.get(`${number} ${callKey(works.funcs.indexOf(func), seq, ordinal)}`);
      if (row !== undefined) return this.call(row);
    }
    return null;
  }

  private commsByCall(): Map<string, Set<number>> {
    const { comm, seq } = this.scan.works;
    const comms = new Map<string, Set<number>>();
    for (let row = 0; row < seq.length; row++) {
      const key = this.keyOf(row);
      const numbers = comms.get(key);
      if (numbers) numbers.add(comm[row]!);
      else comms.set(key, new Set([comm[row]!]));
    }
    return comms;
  }

  private call(row: number): EnteredCall {
    const { works } = this.scan;
    return {
      func: works.funcs[works.func[row]!]!,
      seq: works.seq[row]!,
      ordinal: works.ordinal[row]!,
      isAbsolute: this.isAbsolute(row),
      count: works.count[row]!,
      datatype: works.datatypes[works.datatype[row]!]!,
      root: works.root[row]! < 0 ? null : works.root[row]!,
      record: `${keyRing(works.keys[row]!)}:${keyPosition(works.keys[row]!)}`,
      at: this.time(works.arrival[row]!),
    };
  }

  private keyOf(row: number): string {
    const { func, seq, ordinal } = this.scan.works;
    return callKey(func[row]!, seq[row]!, ordinal[row]!);
  }

  private isAbsolute(row: number): boolean {
    return this.scan.works.ordinalAbsolute[row] === 1;
  }

  /** `ranks`: of these of the communicator alone. */
  private commsOf(commId: bigint, ranks?: readonly number[]): CallSource['communicators'] {
    return this.scan.communicators.filter(
      (comm) => comm.commId === commId && (ranks?.includes(comm.rank) ?? true),
    );
  }

  private numbersOf(commId: bigint, ranks?: readonly number[]): ReadonlySet<number> {
    return new Set(this.commsOf(commId, ranks).map(({ number }) => number));
  }
}

/** `func`: index into the table's functions. */
const callKey = (func: number, seq: number, ordinal: number): string => `${func} ${seq} ${ordinal}`;
