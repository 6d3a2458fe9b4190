/**
 * Reads a Python pickle as plain data. A pickle is a program. This reader runs only the opcodes that build numbers, texts, lists, tuples
 * and dicts with text keys. PyTorch's dumps need no others. Opcodes that name or call something in Python are refused, so a file cannot do
 * anything. Every length is checked against the bytes that are there.
 */

export type PickleValue = null | boolean | number | bigint | string | PickleValue[] | PickleDict;

/** Keys and values by turns. A dump has millions of small dicts; objects would take three times as long to make. */
export class PickleDict {
  /** Only a large dict has it, so that a file cannot make every look take long. */
  private index: Map<PickleValue, PickleValue> | null = null;

  constructor(public items: PickleValue[] = []) {}

  /** If a key is there twice, the last one counts. */
  get(key: string): PickleValue | undefined {
    const { items } = this;
    if (items.length > 128) return (this.index ??= new Map(this.entries())).get(key);
    for (let i = items.length - 2; i >= 0; i -= 2) if (items[i] === key) return items[i + 1];
    return undefined;
  }

  entries(): [PickleValue, PickleValue][] {
    const { items } = this;
    return items.flatMap((key, i) => (i % 2 === 0 ? [[key, items[i + 1]!]] : []));
  }
}

/** What is wrong, and where. */
export class PickleError extends Error {
  override readonly name = 'PickleError';

  constructor(what: string, at: number) {
    super(`${what} at byte ${at}`);
  }
}

export const readPickle = (bytes: Buffer): PickleValue => new PickleReader(bytes).read();

class PickleReader {
  private readonly view: DataView;
  private readonly stack: PickleValue[] = [];
  /** Values on the stack. What lies above is of no use any more. */
  private top = 0;
  /** How many values lay on the stack at each mark. What lies below the newest one cannot be taken. */
  private readonly marks: number[] = [];
  /** By place, which Python counts from 0. */
  private readonly memo: PickleValue[] = [];
  private at = 0;
  /** Where the running opcode is. */
  private op = 0;

  constructor(private readonly bytes: Buffer) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(): PickleValue {
    for (;;) {
      this.op = this.at;
      const opcode = this.byte();
      if (opcode === STOP) break;
      const run = OPCODES[opcode];
      if (run === undefined)
        this.fail(`has opcode 0x${hex(opcode)}, which is not plain data and is not run,`);
      run(this);
    }
    if (this.top !== 1 || this.marks.length > 0) this.fail('ends with values left over, or with none');
    return this.stack[0]!;
  }

  fail(what: string): never {
    throw new PickleError(what, this.op);
  }

  /** Like all that an opcode does, it returns how many values are on the stack. */
  push(value: PickleValue): number {
    this.stack[this.top++] = value;
    return this.top;
  }

  byte(): number {
    return this.bytes[this.take(1)]!;
  }

  uint16(): number {
    return this.view.getUint16(this.take(2), true);
  }

  uint32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  int32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  double(): number {
    return this.view.getFloat64(this.take(8), false);
  }

  uint64(): number {
    return Number(this.view.getBigUint64(this.take(8), true));
  }

  text(size: number): string {
    const from = this.take(size);
    // Python writes unpaired surrogates unchanged ("surrogatepass"). Here they become U+FFFD.
    return this.bytes.toString('utf8', from, from + size);
  }

  /** Two's complement, little endian. */
  long(size: number): number | bigint {
    const from = this.take(size);
    let value = 0n;
    if (size === 8) value = this.view.getBigInt64(from, true);
    else for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.bytes[from + i]!);
    const signed = BigInt.asIntN(size * 8, value);
    const small = Number(signed);
    return Number.isSafeInteger(small) ? small : signed;
  }

  mark(): number {
    return this.marks.push(this.top);
  }

  /** Where the topmost `count` values begin. */
  below(count: number): number {
    const from = this.top - count;
    if (from < (this.marks[this.marks.length - 1] ?? 0)) this.fail('takes a value that is not there');
    return from;
  }

  /** Where the values above the newest mark begin. */
  popMark(): number {
    return this.marks.pop() ?? this.fail('takes values that are not there');
  }

  tuple(from: number): number {
    const values = this.stack.slice(from, this.top);
    this.top = from;
    return this.push(values);
  }

  append(from: number): number {
    const list = this.taker(from);
    if (!Array.isArray(list)) this.fail('appends to what is no list');
    for (let i = from; i < this.top; i++) list.push(this.stack[i]!);
    return (this.top = from);
  }

  setItems(from: number): number {
    const { stack, top } = this;
    const dict = this.taker(from);
    if (!(dict instanceof PickleDict)) this.fail('fills what is no dict');
    if ((top - from) % 2 === 1) this.fail('has a key without a value');
    for (let i = from; i < top; i += 2)
      if (typeof stack[i] !== 'string') this.fail('has a key that is no text');
    if (dict.items.length === 0) dict.items = stack.slice(from, top);
    else for (let i = from; i < top; i++) dict.items.push(stack[i]!);
    return (this.top = from);
  }

  /** The value below `from`, which takes those above it. */
  private taker(from: number): PickleValue {
    if (from - 1 < (this.marks[this.marks.length - 1] ?? 0)) this.fail('fills a value that is not there');
    return this.stack[from - 1]!;
  }

  remember(place: number): number {
    // Beyond that, the list would be a slow one.
    if (place > this.bytes.length) this.fail('remembers a value too far away');
    this.memo[place] = this.stack[this.below(1)]!;
    return this.top;
  }

  rememberNext(): number {
    return this.remember(this.memo.length);
  }

  recall(place: number): number {
    return this.push(this.memo[place] ?? this.forgotten(place));
  }

  private forgotten(place: number): PickleValue {
    return place in this.memo ? null : this.fail('recalls a value that was not remembered');
  }

  private take(size: number): number {
    const from = this.at;
    if (size > this.bytes.length - from) this.fail('is cut short');
    this.at += size;
    return from;
  }
}

const STOP = 0x2e;
const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

/** By opcode. */
const OPCODES: ((run: PickleReader) => number | boolean)[] = [];
OPCODES[0x80] = (run) => run.byte() <= 5 || run.fail('has an unknown protocol'); // PROTO
OPCODES[0x95] = (run) => run.uint64(); // FRAME: says only how much to read at a time
OPCODES[0x28] = (run) => run.mark(); // MARK
OPCODES[0x4e] = (run) => run.push(null); // NONE
OPCODES[0x88] = (run) => run.push(true); // NEWTRUE
OPCODES[0x89] = (run) => run.push(false); // NEWFALSE
OPCODES[0x4b] = (run) => run.push(run.byte()); // BININT1
OPCODES[0x4d] = (run) => run.push(run.uint16()); // BININT2
OPCODES[0x4a] = (run) => run.push(run.int32()); // BININT
OPCODES[0x8a] = (run) => run.push(run.long(run.byte())); // LONG1
OPCODES[0x47] = (run) => run.push(run.double()); // BINFLOAT
OPCODES[0x58] = (run) => run.push(run.text(run.uint32())); // BINUNICODE
OPCODES[0x8c] = (run) => run.push(run.text(run.byte())); // SHORT_BINUNICODE
OPCODES[0x8d] = (run) => run.push(run.text(run.uint64())); // BINUNICODE8
OPCODES[0x5d] = (run) => run.push([]); // EMPTY_LIST
OPCODES[0x29] = (run) => run.push([]); // EMPTY_TUPLE
OPCODES[0x7d] = (run) => run.push(new PickleDict()); // EMPTY_DICT
OPCODES[0x74] = (run) => run.tuple(run.popMark()); // TUPLE
OPCODES[0x85] = (run) => run.tuple(run.below(1)); // TUPLE1
OPCODES[0x86] = (run) => run.tuple(run.below(2)); // TUPLE2
OPCODES[0x87] = (run) => run.tuple(run.below(3)); // TUPLE3
OPCODES[0x61] = (run) => run.append(run.below(1)); // APPEND
OPCODES[0x65] = (run) => run.append(run.popMark()); // APPENDS
OPCODES[0x73] = (run) => run.setItems(run.below(2)); // SETITEM
OPCODES[0x75] = (run) => run.setItems(run.popMark()); // SETITEMS
OPCODES[0x71] = (run) => run.remember(run.byte()); // BINPUT
OPCODES[0x72] = (run) => run.remember(run.uint32()); // LONG_BINPUT
OPCODES[0x94] = (run) => run.rememberNext(); // MEMOIZE
OPCODES[0x68] = (run) => run.recall(run.byte()); // BINGET
OPCODES[0x6a] = (run) => run.recall(run.uint32()); // LONG_BINGET
