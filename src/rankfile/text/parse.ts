/**
 * Reads a text of rank files (schemas/rank-text.md) line by line, and gives each file when its last line has been read. What a text written by hand
 * leaves out gets its usual value: positions follow each other, strings get their place in the table, an area is as large as its records need.
 */

import { beginsWith } from '../../output/file_start.js';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { RankFileError } from '../../base/errors.js';
import { maxOf } from '../../base/extremes.js';
import { reason } from '../../base/reason.js';
import * as format from '../format/constants.js';
import { State } from '../format/nccl.js';
import { MAX_AREAS } from '../directory.js';
import { HeaderFacts } from './header_text.js';
import { bigintOf, Line, LineFault, quoted, textOf } from './line.js';
import { TITLE } from './print.js';
import { handleOf, kindOf, type Names, recordWords, type Words } from './record_text.js';
import { SlotList } from './slot_text.js';

const { AreaClass, Kind } = format;

export interface TextFold {
  readonly handle: bigint;
  readonly state: number;
  readonly count: number;
  readonly lastTick: bigint;
  /** undefined: that of the handle. */
  readonly key: number | undefined;
}

export interface TextArea {
  readonly index: number;
  readonly areaClass: number;
  readonly isUsable: boolean;
  readonly capacity: number | undefined;
  readonly foldCapacity: number | undefined;
  readonly interval: number;
  /** Bytes of it that the file has; undefined: all. */
  readonly cut: number | undefined;
  /** By their names in the format; absent: 0. The head: one past the newest slot. */
  readonly counters: ReadonlyMap<Counter, bigint>;
  readonly slots: SlotList;
  readonly folds: TextFold[];
  /** Positions [from, end) that a chunk has and this area as well. */
  readonly also: { readonly from: number; readonly end: number }[];
}

export interface TextChunk {
  readonly area: number;
  readonly sequence: number;
  readonly from: number;
  readonly end: number;
  readonly isUsable: boolean;
  /** undefined: those of its records. */
  readonly firstTick: bigint | undefined;
  readonly lastTick: bigint | undefined;
  readonly slots: SlotList;
}

export interface TextFile {
  /** Of the text. */
  readonly path: string;
  readonly name: string;
  readonly header: HeaderFacts;
  readonly areas: TextArea[];
  readonly chunks: TextChunk[];
}

/** The rank files of a text. Throws RankFileError: which line is wrong, and why. */
export function* filesOfText(path: string): Generator<TextFile> {
  let number = 0;
  let reader: FileReader | null = null;
  try {
    for (const text of linesOf(path)) {
      number++;
      if (number === 1 && text.trim() !== TITLE) throw new LineFault(`it does not begin with "${TITLE}"`);
      if (number === 1 || /^\s*(#|$)/.test(text)) continue;
      const line = new Line(text);
      if (line.words[0] === 'file') {
        if (reader !== null) yield reader.finished();
        reader = new FileReader(path, nameOf(line));
      } else if (reader === null) throw new LineFault('a line before the first "file NAME"');
      else reader.read(line);
      line.end();
    }
    if (reader === null) throw new LineFault('there is no "file NAME"');
    yield reader.finished();
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    throw wrongText(path, `line ${number} cannot be read: ${error.message}`);
  }
}

/** False also for a file that cannot be read. */
export function isRankText(path: string): boolean {
  try {
    return beginsWith(path, TITLE);
  } catch {
    return false;
  }
}

export const wrongText = (path: string, what: string): RankFileError =>
  new RankFileError({ path, what, advice: 'schemas/rank-text.md describes the lines' });

function* linesOf(path: string): Generator<string> {
  const file = opened(path);
  try {
    const decoder = new StringDecoder('utf8');
    const buffer = Buffer.alloc(1 << 20);
    let rest = '';
    for (let got = 1; got > 0;) {
      got = readSync(file, buffer);
      const lines = (rest + decoder.write(buffer.subarray(0, got))).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new RankFileError({ path, what: `cannot be opened: ${reason(error)}`, advice: 'check the path' });
  }
}

/** It is made below a folder and nowhere else. */
function nameOf({ words }: Line): string {
  const name = textOf(words[1] ?? '');
  const isInside =
    name !== '' && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isInside || name.includes('\0') || words.length > 2)
    throw new LineFault('"file" needs one name, such as rank00003.bin or run/rank00003.bin');
  return name;
}

/** Reads the lines of one file. */
class FileReader {
  private readonly file: TextFile;
  private place: TextArea | TextChunk | null = null;
  private next = 0;
  private readonly strings: (string | undefined)[] = [''];
  private madeTable: TextArea | null = null;
  private names: (Names & { readonly idOf: (text: string) => number }) | null = null;

  constructor(path: string, name: string) {
    this.file = { path, name, header: new HeaderFacts(), areas: [], chunks: [] };
  }

  read(line: Line): void {
    const [first = '', second = ''] = line.words;
    if (first === 'area') this.open(this.areaOf(line));
    else if (first === 'chunk') this.open(this.chunkOf(line));
    else if (this.place === null) {
      if (line.words.length !== 2) throw new LineFault('a line of the header is a name and a value');
      this.file.header.add(first, second);
    } else this.readInside(line, this.place);
  }

  private open(place: TextArea | TextChunk): void {
    this.place = place;
    this.next = 'from' in place ? place.from : 0;
  }

  private areaOf(line: Line): TextArea {
    const { areas, header } = this.file;
    const index = line.words[1] ?? '';
    if (areas.some((area) => area.index === Number(index)))
      throw new LineFault(`area ${index} is there twice`);
    this.names ??= {
      tag: header.number('tag'),
      startTick: header.number('startTick'),
      strings: this.strings,
      idOf: (text) => this.idOf(text),
    };
    const area = areaFrom(line);
    areas.push(area);
    return area;
  }

  private chunkOf(line: Line): TextChunk {
    const { chunks, areas } = this.file;
    const tick = (name: string): bigint | undefined => {
      const token = line.take(name);
      return token === undefined ? undefined : bigintOf(token) + this.names!.startTick;
    };
    if (areas.length === 0) throw new LineFault('chunks follow the areas');
    const chunk: TextChunk = {
      area: need(line, 'area'),
      sequence: line.takeNumber('sequence') ?? (chunks.at(-1)?.sequence ?? -1) + 1,
      from: need(line, 'from'),
      end: need(line, 'end'),
      isUsable: line.words.length === 1,
      firstTick: tick('firstTick'),
      lastTick: tick('lastTick'),
      slots: new SlotList(),
    };
    const bytes = (chunk.end - chunk.from) * format.SLOT_BYTES;
    if (bytes < 0 || bytes > format.MAX_CHUNK_RAW_BYTES)
      throw new LineFault(`a chunk has ${format.MAX_CHUNK_RAW_BYTES / format.SLOT_BYTES} slots at most`);
    chunks.push(chunk);
    return chunk;
  }

  private readInside(line: Line, place: TextArea | TextChunk): void {
    const { words } = line;
    if (words[0] === 'fold' && 'folds' in place) place.folds.push(this.foldOf(line));
    else if (words[0] === 'also' && 'also' in place)
      place.also.push({ from: need(line, 'from'), end: need(line, 'end') });
    else if (words[0] === 'slot') this.readSlot(line, place);
    else if (words[0] === 'torn') place.slots.addTorn(Number(bigintOf(words[1] ?? '')), wordsOf(line, 2, 4));
    else this.readRecord(line, place);
  }

  private readRecord(line: Line, { slots }: TextArea | TextChunk): void {
    const at = line.words.findIndex((word) => kindOf(word) !== undefined);
    const kind = kindOf(line.words[at] ?? '');
    if (kind === undefined || at < 1 || at > 2 || line.words.length > at + 1)
      throw new LineFault(`"${line.words.join(' ')}" is no position, tick and kind of a record`);
    const position = at === 2 ? Number(bigintOf(line.words[0]!)) : this.placeFor(kind);
    const text = line.peek('text');
    const record = recordWords(kind, bigintOf(line.words[at - 1]!), line, this.names!);
    slots.addRecord(record, position);
    if (kind === Kind.String && text !== undefined && position % format.STRING_SLOTS === 0)
      this.strings[position / format.STRING_SLOTS + 1] = textOf(text);
    this.next = position + record.words.length / 3;
  }

  /** The next place that a record of this kind may have. */
  private placeFor(kind: number): number {
    const step = STEPS.get(kind) ?? 1;
    return Math.ceil(this.next / step) * step;
  }

  private readSlot(line: Line, { slots }: TextArea | TextChunk): void {
    const position = Number(bigintOf(line.words[1] ?? ''));
    const [kind, part, parts] = [need(line, 'kind'), need(line, 'part'), need(line, 'parts')];
    slots.addSlot(kind, part, parts, position, wordsOf(line, 2, 3));
    this.next = position + 1;
  }

  private foldOf(line: Line): TextFold {
    const { tag, startTick } = this.names!;
    const state = line.take('state') ?? 'start';
    return {
      handle: handleOf(line.take('handle') ?? '', tag),
      state:
        state === 'start'
          ? format.FOLD_STATE_START
          : Object.hasOwn(State, state)
            ? State[state as keyof typeof State]
            : Number(bigintOf(state)),
      count: need(line, 'count'),
      lastTick: BigInt.asUintN(64, bigintOf(line.take('lastTick') ?? '0') + startTick),
      key: line.takeNumber('key'),
    };
  }

  /** Of the table of strings. A text that is not in it gets the next place. */
  private idOf(text: string): number {
    const known = this.strings.indexOf(text);
    if (known !== -1) return known;
    const id = this.strings.push(text) - 1;
    this.table().slots.addRecord(this.stringRecord(text), (id - 1) * format.STRING_SLOTS);
    return id;
  }

  private table(): TextArea {
    const { areas } = this.file;
    const known = areas.find(({ areaClass }) => areaClass === AreaClass.TableStrings);
    if (known !== undefined) return known;
    const index =
      maxOf(
        areas.map((area) => area.index),
        -1,
      ) + 1;
    this.madeTable ??= areaFrom(new Line(`area ${index} TableStrings`));
    return this.madeTable;
  }

  private stringRecord(text: string): Words {
    return recordWords(Kind.String, 0n, new Line(`text=${quoted(text)}`), this.names!);
  }

  finished(): TextFile {
    const { areas } = this.file;
    if (this.madeTable !== null) areas.push({ ...this.madeTable, index: areas.length });
    areas.sort((a, b) => a.index - b.index);
    const gap = areas.findIndex((area, i) => area.index !== i);
    if (gap !== -1) throw new LineFault(`there is no area ${gap}`);
    if (areas.length > MAX_AREAS) throw new LineFault(`there are ${MAX_AREAS} areas at most`);
    return this.file;
  }
}

function areaFrom(line: Line): TextArea {
  const [, index = '', name = '', unusable] = line.words;
  const counters = COUNTERS.flatMap((counter) => {
    const token = line.take(counter);
    return token === undefined ? [] : [[counter, bigintOf(token)] as const];
  });
  const known = Object.hasOwn(AreaClass, name) ? AreaClass[name as keyof typeof AreaClass] : undefined;
  return {
    index: Number(bigintOf(index)),
    areaClass: known ?? Number(bigintOf(name)),
    isUsable: unusable === undefined,
    capacity: line.takeNumber('capacity'),
    foldCapacity: line.takeNumber('folds'),
    interval: line.takeNumber('interval') ?? 0,
    cut: line.takeNumber('cut'),
    counters: new Map(counters),
    slots: new SlotList(),
    folds: [],
    also: [],
  };
}

const COUNTERS = ['head', 'folded', 'muted', 'nullCalls', 'ordinalsLost'] as const;
export type Counter = (typeof COUNTERS)[number];

/** Slots from one entry of a table to the next. */
const STEPS: ReadonlyMap<number, number> = new Map([
  [Kind.ClockSample, format.CLOCK_SAMPLE_SLOTS],
  [Kind.Communicator, format.COMMUNICATOR_SLOTS],
  [Kind.String, format.STRING_SLOTS],
  [Kind.Lease, format.LEASE_SLOTS],
]);

function need(line: Line, name: string): number {
  const value = line.takeNumber(name);
  if (value === undefined) throw new LineFault(`${name}= is missing`);
  return value;
}

function wordsOf(line: Line, from: number, count: number): bigint[] {
  const words = line.words.slice(from).map(bigintOf);
  if (words.length !== count) throw new LineFault(`${count} words are needed`);
  return words;
}
