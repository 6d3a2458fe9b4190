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

export class Extra {
  count: i32 = 0;
  hasFlow: bool = false;
  /** The arrow of a slice. Perfetto draws it from the earlier start to the later one. */
  flow: u64 = 0;
  /** Slices of one collective share it on all ranks (same colour, SQL join key); 0: none. */
  correlation: f64 = 0;
  private room: i32 = FIRST_ARGS;
  private args: usize = heap.alloc(<usize>FIRST_ARGS * offsetof<Arg>());

  @inline
  clear(): void {
    this.count = 0;
    this.hasFlow = false;
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

  copy(from: Extra): void {
    this.clear();
    for (let i = 0; i < from.count; i++) {
      const arg = from.at(i);
      this.add(changetype<Text>(arg.name), arg.kind, arg.value);
    }
    this.hasFlow = from.hasFlow;
    this.flow = from.flow;
    this.correlation = from.correlation;
  }

  private grow(): void {
    const larger = heap.alloc(<usize>this.room * 2 * offsetof<Arg>());
    memory.copy(larger, this.args, <usize>this.room * offsetof<Arg>());
    this.args = larger;
    this.room *= 2;
  }
}
