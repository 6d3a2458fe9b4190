/**
 * The header as lines `name value`, one per fact, and back. Facts that have their usual value are left out, so a header written by hand says only
 * what matters. What follows from the rest of the file (offsets, counts, checks) is not in the text.
 */

import * as format from '../format/constants.js';
import { crc32 } from '../format/crc32.js';
import { EventType, eventTypeNames } from '../format/nccl.js';
import { bigintOf, LineFault, quoted, textOf } from './line.js';

const H = format.FILE_HEADER;
type Name = keyof typeof H;

/** How a fact is written: a number, a number relative to the start, names of event types, a boot id, or names of values. */
type Form = 'number' | 'signed' | 'hex' | 'tick' | 'events' | 'id' | Readonly<Record<string, number>>;

interface Fact {
  readonly name: Name;
  readonly bytes: number;
  readonly form: Form;
  readonly usual: bigint;
}

const fact = (name: Name, bytes: number, form: Form = 'number', usual: number | bigint = 0n): Fact => ({
  name,
  bytes,
  form,
  usual: BigInt(usual),
});

const NUMBERS: readonly Fact[] = [
  fact('readerVersion', 2, 'number', format.READER_VERSION),
  fact('writerVersion', 2, 'number', format.WRITER_VERSION),
  fact('tag', 8, 'hex', 0x8101_0000_0000_0000n),
  fact('bootId', 16, 'id'),
  fact('pidNamespace', 8),
  fact('processStart', 8),
  fact('pid', 4),
  fact('tickSource', 4, format.TickSource, format.TickSource.TickMonotonic),
  fact('tickHz', 8, 'number', 1_000_000_000),
  fact('startTick', 8, 'number', 1_000_000_000),
  fact('startRealtime', 8, 'number', 1_700_000_000_000_000_000n),
  fact('startMonotonic', 8, 'number', 1_000_000_000),
  fact('rank', 4, 'signed'),
  fact('worldSize', 4, 'signed', -1),
  fact('localRank', 4, 'signed', -1),
  fact('mode', 4, format.Mode),
  fact('eventMask', 8, 'events', 0xffff),
  fact('sampleEvery', 8, 'number', 1),
  fact('ringBytes', 8),
  fact('maxBytes', 8),
  fact('placement', 4, format.Placement, format.Placement.InFile),
  fact('copyIntervalMs', 4),
  fact('snapshotRealtime', 8),
  fact('ncclVersion', 4),
  fact('life', 4, format.Life, format.Life.Closed),
  fact('controlWord', 8, 'hex'),
  fact('controlGeneration', 8, 'hex'),
  fact('maskNow', 8, 'events', 0xffff),
  fact('copiedTick', 8, 'tick'),
  fact('communicatorsLost', 8),
  fact('stringsLost', 8),
  fact('leasesLost', 8),
  fact('threadsOverflowed', 8),
  fact('ioErrors', 8),
  fact('controlAnswered', 8),
  fact('controlRefused', 8),
  fact('sampleNow', 8),
  fact('changedTick', 8, 'tick'),
];

/** What every reader of a text looks for. */
const ALWAYS: ReadonlySet<Name> = new Set(['rank', 'worldSize', 'mode', 'life']);

export type HeaderText = keyof typeof format.TEXT_BYTES;
const TEXTS = Object.keys(format.TEXT_BYTES) as HeaderText[];

/** What stands in place of the texts and the boot id of the file. */
export interface HiddenHeader {
  readonly header: ReadonlyMap<HeaderText, string>;
  readonly bootId: string;
}

export function* headerLines(header: Uint8Array, hidden: HiddenHeader | null): Generator<string> {
  const startTick = readNumber(header, H.startTick, 8);
  for (const one of NUMBERS) {
    const value = readNumber(header, H[one.name], one.bytes);
    const shown = one.name === 'bootId' ? hidden?.bootId : undefined;
    if (value !== one.usual || ALWAYS.has(one.name))
      yield `${one.name} ${shown ?? numberText(one, value, startTick)}`;
  }
  for (const name of TEXTS) {
    const bytes = header.subarray(H[name], H[name] + format.TEXT_BYTES[name]);
    const end = bytes.indexOf(0);
    const text =
      hidden?.header.get(name) ?? Buffer.from(end === -1 ? bytes : bytes.subarray(0, end)).toString();
    if (text !== '') yield `${name} ${quoted(text)}`;
  }
}

function numberText({ form, bytes }: Fact, value: bigint, startTick: bigint): string {
  if (typeof form === 'object') {
    const name = Object.entries(form).find(([, number]) => BigInt(number) === value)?.[0];
    return name ?? String(value);
  }
  if (form === 'signed') return String(BigInt.asIntN(bytes * 8, value));
  if (form === 'hex') return `0x${value.toString(16)}`;
  if (form === 'id') return value.toString(16).padStart(bytes * 2, '0');
  if (form === 'tick') return String(value - startTick);
  if (form === 'events' && value > 0n && value < 2n ** 32n) return eventTypeNames(Number(value)).join(',');
  return String(value);
}

/** The facts of a header, as a text gives them. */
export class HeaderFacts {
  private readonly tokens = new Map<string, string>();

  add(name: string, token: string): void {
    if (!TEXTS.some((text) => text === name) && !NUMBERS.some((one) => one.name === name))
      throw new LineFault(`there is no ${name} in a header`);
    if (this.tokens.has(name)) throw new LineFault(`${name} is there twice`);
    this.tokens.set(name, token);
  }

  number(name: Name): bigint {
    const one = NUMBERS.find((known) => known.name === name)!;
    const token = this.tokens.get(name);
    return token === undefined ? one.usual : this.valueOf(one, token);
  }

  private valueOf({ form, bytes }: Fact, token: string): bigint {
    if (typeof form === 'object' && Object.hasOwn(form, token)) return BigInt(form[token]!);
    if (form === 'id') return bigintOf(`0x${token}`);
    if (form === 'tick') return BigInt.asUintN(64, bigintOf(token) + this.number('startTick'));
    if (form === 'events' && !/^-?\d/.test(token)) return eventsOf(token);
    return BigInt.asUintN(bytes * 8, bigintOf(token));
  }

  /** Without the numbers that follow from the rest of the file. */
  bytes(): Uint8Array {
    const header = new Uint8Array(format.HEADER_BYTES);
    header.set(format.MAGIC, H.magic);
    writeNumber(header, H.endianMark, 4, BigInt(format.ENDIAN_MARK));
    writeNumber(header, H.headerBytes, 4, BigInt(format.HEADER_BYTES));
    writeNumber(header, H.slotBytes, 4, BigInt(format.SLOT_BYTES));
    for (const { name, bytes } of NUMBERS) writeNumber(header, H[name], bytes, this.number(name));
    for (const name of TEXTS) {
      const bytes = Buffer.from(textOf(this.tokens.get(name) ?? ''));
      if (bytes.length > format.TEXT_BYTES[name])
        throw new LineFault(`${name} has room for ${format.TEXT_BYTES[name]} bytes`);
      header.set(bytes, H[name]);
    }
    return header;
  }
}

function eventsOf(token: string): bigint {
  return token.split(',').reduce((mask, name) => {
    const bit = EventType[name as keyof typeof EventType] as number | undefined;
    return mask | (bit === undefined ? bigintOf(name) : BigInt(bit));
  }, 0n);
}

/** Gives the header its place of the directory and the chunks, and its check. */
export function sealHeader(
  header: Uint8Array,
  places: { readonly areaCount: number; readonly chunksOffset: number; readonly end: number },
): void {
  const { areaCount, chunksOffset, end } = places;
  writeNumber(header, H.areaCount, 4, BigInt(areaCount));
  writeNumber(header, H.directoryOffset, 8, BigInt(format.HEADER_BYTES));
  writeNumber(header, H.chunksOffset, 8, BigInt(chunksOffset));
  writeNumber(header, H.chunksBegin, 8, BigInt(end > chunksOffset ? chunksOffset : 0));
  writeNumber(header, H.chunksEnd, 8, BigInt(end > chunksOffset ? end : 0));
  writeNumber(header, H.headerCrc, 4, 0n);
  writeNumber(header, H.headerCrc, 4, BigInt(crc32(header.subarray(0, format.HEADER_FIXED_BYTES))));
}

/** Little-endian, but for a boot id, whose digits stand in order. */
function readNumber(bytes: Uint8Array, at: number, length: number): bigint {
  const digits = Buffer.from(bytes.subarray(at, at + length));
  return BigInt(`0x${(length === 16 ? digits : digits.reverse()).toString('hex')}`);
}

function writeNumber(bytes: Uint8Array, at: number, length: number, value: bigint): void {
  const digits = Buffer.from(
    BigInt.asUintN(length * 8, value)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  );
  bytes.set(length === 16 ? digits : digits.reverse(), at);
}
