/** Arguments and links of an event. */

import { refuse } from './host';
import { Reason } from './refused';
import { Text } from './text';

export const enum ArgKind {
  Flag,
  /** A whole number of 0 or more, and below 0. */
  Count,
  Negative,
  Double,
  Text,
}

@unmanaged
export class Arg {
  name: usize;
  value: u64;
  kind: ArgKind;
}

const FIRST_ARGS: i32 = 8;
/** Arrows of one slice. Further ones are not drawn. */
export const MAX_FLOWS: i32 = 8;

export class Extra {
  count: i32 = 0;
  flowCount: i32 = 0;
  /** The arrows of a slice. Perfetto draws each from the earlier start to the later one. */
  readonly flows: StaticArray<u64> = new StaticArray<u64>(MAX_FLOWS);
  /** Slices of one collective share it on all ranks (same colour, SQL join key); 0: none. */
  correlation: f64 = 0;
  private room: i32 = FIRST_ARGS;
  private args: usize = heap.alloc(<usize>FIRST_ARGS * offsetof<Arg>());

  @inline
  clear(): void {
    this.count = 0;
    this.flowCount = 0;
    this.correlation = 0;
  }

  @inline
  at(place: i32): Arg {
    return changetype<Arg>(this.args + <usize>place * offsetof<Arg>());
  }

  add(name: Text, kind: ArgKind, value: u64): void {
    if (this.count == this.room) this.grow();
    const arg = this.at(this.count++);
    arg.name = changetype<usize>(name);
    arg.kind = kind;
    arg.value = value;
  }

  /** A safe integer or a finite fraction. */
  addNumber(name: Text, value: f64): void {
    const isWhole = value == Math.floor(value);
    if (isWhole && abs(value) <= <f64>f64.MAX_SAFE_INTEGER) {
      if (value >= 0) this.add(name, ArgKind.Count, <u64>value);
      else this.add(name, ArgKind.Negative, <u64>(<i64>value));
    } else {
      if (!isFinite(value) || isWhole) refuse(-1, 0, Reason.LosesDigits as i32, value, 0);
      this.add(name, ArgKind.Double, reinterpret<u64>(value));
    }
  }

  addFlow(flow: u64): void {
    if (this.flowCount < MAX_FLOWS) unchecked((this.flows[this.flowCount++] = flow));
  }

  copy(from: Extra): void {
    this.clear();
    for (let i = 0; i < from.count; i++) {
      const arg = from.at(i);
      this.add(changetype<Text>(arg.name), arg.kind, arg.value);
    }
    for (let i = 0; i < from.flowCount; i++) this.addFlow(from.flows[i]);
    this.correlation = from.correlation;
  }

  private grow(): void {
    const larger = heap.alloc(<usize>this.room * 2 * offsetof<Arg>());
    memory.copy(larger, this.args, <usize>this.room * offsetof<Arg>());
    this.args = larger;
    this.room *= 2;
  }
}
