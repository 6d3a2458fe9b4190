/**
 * The calls of a dump, in columns. What calls have in common (names, sizes, the Python stack) is kept once for all dumps, because hundreds of
 * ranks make the same calls thousands of times. A call becomes an object only where one is looked at.
 */

/** One line of a Python stack, the innermost first. */
export interface Frame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

/** What calls have in common. */
export interface CallKind {
  /** PyTorch's name of the process group, mostly a number. */
  readonly group: string;
  readonly description: string;
  /** The group's number in this process, as in `pg_status`. */
  readonly groupId: number;
  readonly isP2p: boolean;
  /** "nccl", "nccl2", "gloo": what stands before the colon of PyTorch's name. */
  readonly backend: string;
  /** "_all_gather_base", "send 0->3": ranks in the group. */
  readonly op: string;
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: readonly (readonly number[])[];
  /** Types of the inputs; of the outputs if there is no input. */
  readonly dtypes: readonly string[];
  /** 0: not known. */
  readonly timeoutMs: number;
  readonly frames: readonly Frame[];
}

export const STATES = ['scheduled', 'started', 'completed'] as const;
const ENDS = ['pending', 'finished', 'given up'] as const;

/** One call on a process group, while its dump is read. */
export interface ReadCall {
  readonly kind: CallKind;
  /** Rises with every call of the process. */
  record: number;
  /** Number of the collective in its group, from 1 (torchcomms: from 0). A coalesced group of calls has one. */
  seq: number;
  /** Number of the send or receive, or of its coalesced group; 0: the writer does not count them. */
  p2pSeq: number;
  /** Number of the call in its group, of any kind. */
  opId: number;
  /** ns since the Unix epoch, exact to 256 ns. 0: not known. */
  createdNs: number;
  startedNs: number;
  completedNs: number;
  state: (typeof STATES)[number];
  /** The writer will look at it no more. What that means depends on the writer: see `call_ends.ts`. */
  isRetired: boolean;
  /** `given up`: it ended without being done, by an abort. */
  end: (typeof ENDS)[number];
  /** Number of the batch of sends and receives that it is part of, by the record that closes it; 0: none. */
  batch: number;
}

export interface DumpedCall extends CallKind, Readonly<Omit<ReadCall, 'kind'>> {}

const NUMBERS = [
  'record',
  'seq',
  'p2pSeq',
  'opId',
  'createdNs',
  'startedNs',
  'completedNs',
  'batch',
] as const;
type Columns = Readonly<Record<(typeof NUMBERS)[number], Float64Array>>;

/** In order of `record`. */
export class Calls {
  readonly kinds: readonly CallKind[];
  readonly numbers: Columns;
  /** In the bits: state, end, `isRetired`. */
  private readonly flags: Uint8Array;

  constructor(calls: readonly ReadCall[]) {
    this.kinds = calls.map(({ kind }) => kind);
    this.numbers = Object.fromEntries(
      NUMBERS.map((name) => [name, Float64Array.from(calls, (call) => call[name])]),
    ) as Columns;
    this.flags = Uint8Array.from(
      calls,
      ({ state, end, isRetired }) =>
        STATES.indexOf(state) | (ENDS.indexOf(end) << 2) | (Number(isRetired) << 4),
    );
  }

  get length(): number {
    return this.kinds.length;
  }

  /** Not known to be done. */
  isPending(row: number): boolean {
    return (this.flags[row]! & 0b1100) !== 0b0100;
  }

  /** Below 0: from the end. undefined: there is none. */
  at(row: number): DumpedCall | undefined {
    const at = row < 0 ? row + this.length : row;
    const kind = this.kinds[at];
    if (kind === undefined) return undefined;
    const flags = this.flags[at]!;
    const numbers = Object.fromEntries(NUMBERS.map((name) => [name, this.numbers[name][at]!]));
    return {
      ...kind,
      ...(numbers as Record<(typeof NUMBERS)[number], number>),
      ...{ state: STATES[flags & 3]!, end: ENDS[(flags >> 2) & 3]!, isRetired: flags >= 16 },
    };
  }

  /** The first call for which it holds. */
  find(holds: (row: number) => boolean): DumpedCall | undefined {
    for (let row = 0; row < this.length; row++) if (holds(row)) return this.at(row);
    return undefined;
  }

  *[Symbol.iterator](): Iterator<DumpedCall> {
    for (let row = 0; row < this.length; row++) yield this.at(row)!;
  }

  /** To another clock. Times that are not known stay so. */
  shift(byNs: number): void {
    for (const name of ['createdNs', 'startedNs', 'completedNs'] as const) {
      const times = this.numbers[name];
      for (let row = 0; row < times.length; row++) if (times[row]! > 0) times[row]! += byNs;
    }
  }
}
