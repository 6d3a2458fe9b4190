/**
 * Reads a Python pickle as plain data. A pickle is a program. This reader runs only the opcodes that build numbers, texts, lists, tuples
 * and dicts with text keys. PyTorch's dumps need no others. Opcodes that name or call something in Python are refused, so a file cannot do
 * anything. Every length is checked against the bytes that are there.
 */

export type PickleValue =
  null | boolean | number | bigint | string | PickleValue[] | { [key: string]: PickleValue };

/** What is wrong, and where. */
export class PickleError extends Error {
  override readonly name = 'PickleError';

  constructor(what: string, at: number) {
    super(`${what} at byte ${at}`);
  }
}

const MARK = Symbol('mark');
type OnStack = PickleValue | typeof MARK;

export function readPickle(bytes: Uint8Array): PickleValue {
  return new PickleReader(bytes).read();
}

class PickleReader {
  private readonly view: DataView;
  private readonly stack: OnStack[] = [];
  private readonly memo = new Map<number, PickleValue>();
  private at = 0;
  /** Where the running opcode is. */
  private op = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(): PickleValue {
    for (;;) {
      this.op = this.at;
      const opcode = this.byte();
      if (opcode === STOP) {
        const value = this.pop();
        if (this.stack.length > 0) this.fail('ends with values left over');
        return value;
      }
      this.run(opcode);
    }
  }

  private run(opcode: number): void {
    const value = this.valueOf(opcode);
    if (value === undefined) this.change(opcode);
    else this.stack.push(value);
  }

  /** The value that the opcode pushes; undefined: it pushes none. */
  private valueOf(opcode: number): OnStack | undefined {
    switch (opcode) {
      case 0x28:
        return MARK;
      case 0x4e: // NONE
        return null;
      case 0x88: // NEWTRUE
        return true;
      case 0x89: // NEWFALSE
        return false;
      case 0x4b: // BININT1
        return this.byte();
      case 0x4d: // BININT2
        return this.view.getUint16(this.take(2), true);
      case 0x4a: // BININT
        return this.view.getInt32(this.take(4), true);
      case 0x8a: // LONG1
        return this.long(this.byte());
      case 0x47: // BINFLOAT
        return this.view.getFloat64(this.take(8), false);
      case 0x58: // BINUNICODE
        return this.text(this.length(4));
      case 0x8c: // SHORT_BINUNICODE
        return this.text(this.length(1));
      case 0x8d: // BINUNICODE8
        return this.text(this.length(8));
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
        return [];
      case 0x7d: // EMPTY_DICT
        return Object.create(null) as { [key: string]: PickleValue };
      case 0x74: // TUPLE
        return this.popToMark();
      case 0x85: // TUPLE1, TUPLE2, TUPLE3
      case 0x86:
      case 0x87:
        return this.popSome(opcode - 0x84);
      case 0x68: // BINGET
        return this.recall(this.byte());
      case 0x6a: // LONG_BINGET
        return this.recall(this.view.getUint32(this.take(4), true));
      default:
        return undefined;
    }
  }

  private change(opcode: number): void {
    switch (opcode) {
      case 0x80: // PROTO
        if (this.byte() > 5) this.fail('has an unknown protocol');
        break;
      case 0x95: // FRAME: says only how much to read at a time
        this.length(8);
        break;
      case 0x61: // APPEND
        this.append(this.popSome(1));
        break;
      case 0x65: // APPENDS
        this.append(this.popToMark());
        break;
      case 0x73: // SETITEM
        this.setItems(this.popSome(2));
        break;
      case 0x75: // SETITEMS
        this.setItems(this.popToMark());
        break;
      case 0x71: // BINPUT
        this.remember(this.byte());
        break;
      case 0x72: // LONG_BINPUT
        this.remember(this.view.getUint32(this.take(4), true));
        break;
      case 0x94: // MEMOIZE
        this.remember(this.memo.size);
        break;
      default:
        this.fail(
          `has opcode 0x${opcode.toString(16).padStart(2, '0')}, which is not plain data and is not run,`,
        );
    }
  }

  private fail(what: string): never {
    throw new PickleError(what, this.op);
  }

  private take(size: number): number {
    const from = this.at;
    if (size > this.bytes.length - from) this.fail('is cut short');
    this.at += size;
    return from;
  }

  private byte(): number {
    return this.bytes[this.take(1)]!;
  }

  /** An unsigned number of `width` bytes that says how many follow. */
  private length(width: 1 | 4 | 8): number {
    const from = this.take(width);
    if (width === 1) return this.bytes[from]!;
    const size = width === 4 ? this.view.getUint32(from, true) : Number(this.view.getBigUint64(from, true));
    if (size > this.bytes.length - this.at) this.fail('is cut short');
    return size;
  }

  private text(size: number): string {
    const from = this.take(size);
    return UTF8.decode(this.bytes.subarray(from, from + size));
  }

  /** Two's complement, little endian. */
  private long(size: number): number | bigint {
    const from = this.take(size);
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.bytes[from + i]!);
    const signed = BigInt.asIntN(size * 8, value);
    const small = Number(signed);
    return Number.isSafeInteger(small) ? small : signed;
  }

  private pop(): PickleValue {
    const value = this.stack.pop();
    if (value === undefined || value === MARK) this.fail('takes a value that is not there');
    return value;
  }

  private popSome(count: number): PickleValue[] {
    return Array.from({ length: count }, () => this.pop()).reverse();
  }

  private popToMark(): PickleValue[] {
    const from = this.stack.lastIndexOf(MARK);
    if (from < 0) this.fail('takes values that are not there');
    return this.stack.splice(from).slice(1) as PickleValue[];
  }

  private top(): OnStack | undefined {
    return this.stack[this.stack.length - 1];
  }

  private append(values: readonly PickleValue[]): void {
    const list = this.top();
    if (!Array.isArray(list)) this.fail('appends to what is no list');
    for (const value of values) list.push(value);
  }

  private setItems(values: readonly PickleValue[]): void {
    const dict = this.top();
    if (typeof dict !== 'object' || dict === null || Array.isArray(dict)) this.fail('fills what is no dict');
    if (values.length % 2 === 1) this.fail('has a key without a value');
    for (let i = 0; i < values.length; i += 2) {
      const key = values[i]!;
      if (typeof key !== 'string') this.fail('has a key that is no text');
      dict[key] = values[i + 1]!;
    }
  }

  private remember(place: number): void {
    const value = this.top();
    if (value === undefined || value === MARK) this.fail('remembers a value that is not there');
    this.memo.set(place, value);
  }

  private recall(place: number): PickleValue {
    const value = this.memo.get(place);
    if (value === undefined) this.fail('recalls a value that was not remembered');
    return value;
  }
}

const STOP = 0x2e;
/** Python writes unpaired surrogates unchanged ("surrogatepass"). Here they become U+FFFD. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
