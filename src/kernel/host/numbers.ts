/** Numbers that the kernel wrote one after the other (src/kernel/results.ts). NaN stands for one that is not known. */

import { assert } from '../../base/assert.js';
import type { Ticks } from '../../base/time.js';

export class Numbers {
  private at = 0;

  constructor(private readonly numbers: Float64Array) {}

  next(): number {
    assert(this.at < this.numbers.length, 'the kernel wrote fewer numbers');
    return this.numbers[this.at++]!;
  }

  flag(): boolean {
    return this.next() === 1;
  }

  /** null: not known. */
  known(): number | null {
    const number = this.next();
    return Number.isNaN(number) ? null : number;
  }

  /** The same. */
  tick(): Ticks | null {
    return this.known() as Ticks | null;
  }

  /** 64 bits. */
  long(): bigint {
    const high = this.next();
    return (BigInt(high) << 32n) | BigInt(this.next());
  }

  /** The bits of a number of 64. */
  bits(): number[] {
    const bits = this.long();
    return Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
  }

  /** A copy. */
  some(count: number): Float64Array {
    this.at += count;
    assert(this.at <= this.numbers.length, 'the kernel wrote fewer numbers');
    return this.numbers.slice(this.at - count, this.at);
  }

  /** A number, and so many things. */
  list<Thing>(read: () => Thing): Thing[] {
    return Array.from({ length: this.next() }, read);
  }

  /** A number of rows, and their columns row by row. */
  columns<Name extends string>(
    names: readonly Name[],
  ): Record<Name, Float64Array> & { readonly length: number } {
    const length = this.next();
    const rows = this.numbers.subarray(this.at, (this.at += length * names.length));
    const columns = names.map((name, column): [Name, Float64Array] => {
      const values = new Float64Array(length);
      for (let row = 0, at = column; row < length; row++, at += names.length) values[row] = rows[at]!;
      return [name, values];
    });
    return { ...(Object.fromEntries(columns) as Record<Name, Float64Array>), length };
  }

  /** Call it after the last number. */
  end(): void {
    assert(this.at === this.numbers.length, 'the kernel wrote more numbers');
  }
}
