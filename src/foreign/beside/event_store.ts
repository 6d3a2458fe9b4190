/**
 * The events of a foreign file between reading and drawing. They come in any order and are drawn track by track in order of time. Numbers are
 * kept in memory (24 bytes per event), names and arguments in a side file.
 */

import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { firstIndex } from '../../base/first_index.js';
import { entryOf } from '../../base/grouped.js';

const CHUNK_BITS = 16;
const CHUNK = 1 << CHUNK_BITS;

/** Numbers that grow without being copied. */
class Numbers<Chunk extends Float64Array | Uint32Array> {
  length = 0;
  private readonly chunks: Chunk[] = [];

  constructor(private readonly make: (length: number) => Chunk) {}

  push(value: number): void {
    const place = this.length & (CHUNK - 1);
    if (place === 0) this.chunks.push(this.make(CHUNK));
    this.chunks[this.length++ >>> CHUNK_BITS]![place] = value;
  }

  at(row: number): number {
    return this.chunks[row >>> CHUNK_BITS]![row & (CHUNK - 1)]!;
  }
}

const doubles = (): Numbers<Float64Array> => new Numbers((length) => new Float64Array(length));
const words = (): Numbers<Uint32Array> => new Numbers((length) => new Uint32Array(length));

/** Records of the side file begin at multiples of this, so a place of 32 bits reaches 32 GB. */
const ALIGNED = 8;
const BUFFER = 1 << 20;
/** The side file is read in pages. A track goes back and forth between those that are near its newest event: they are kept. */
const PAGE = 1 << 15;
const PAGES = 64;

export class EventStore {
  private readonly tracks = words();
  private readonly starts = doubles();
  private readonly durations = doubles();
  private readonly places = words();
  private readonly file: number;
  private buffer = Buffer.allocUnsafe(BUFFER);
  private used = 0;
  private written = 0;
  private order: { readonly rows: Uint32Array; readonly from: Uint32Array } | null = null;
  /** By number, the least lately used first. */
  private readonly pages = new Map<number, Buffer>();

  /** `path`: of the side file. */
  constructor(path: string) {
    this.file = openSync(path, 'w+', 0o600);
  }

  get length(): number {
    return this.starts.length;
  }

  /** `start` in ns. `duration` in ns; NaN: it has none. Returns the event's row. */
  add(track: number, start: number, duration: number, text: string): number {
    const most = 4 + 3 * text.length + ALIGNED;
    if (this.used + most > this.buffer.length) this.flush(most);
    const bytes = this.buffer.write(text, this.used + 4);
    this.buffer.writeUInt32LE(bytes, this.used);
    this.places.push((this.written + this.used) / ALIGNED);
    this.used += Math.ceil((4 + bytes) / ALIGNED) * ALIGNED;
    this.tracks.push(track);
    this.starts.push(start);
    this.durations.push(duration);
    return this.starts.length - 1;
  }

  /** After the last event. `tracks`: how many there are. */
  finish(tracks: number): void {
    this.flush(0);
    this.buffer = Buffer.alloc(0);
    const from = new Uint32Array(tracks + 1);
    for (let row = 0; row < this.length; row++) from[this.tracks.at(row) + 1]!++;
    for (let track = 0; track < tracks; track++) from[track + 1]! += from[track]!;
    const next = from.slice();
    const rows = new Uint32Array(this.length);
    for (let row = 0; row < this.length; row++) rows[next[this.tracks.at(row)]!++] = row;
    this.order = { rows, from };
  }

  /** Rows by start, the longer first. */
  ordered(track: number): Uint32Array {
    const { rows, from } = this.order!;
    return this.sorted(rows.subarray(from[track], from[track + 1]));
  }

  /** Rows of slices in a window, by track, by start, the longer first. */
  within(from: number, to: number): Map<number, Uint32Array> {
    const found = new Map<number, number[]>();
    for (let row = 0; row < this.length; row++)
      if (this.start(row) < to && this.start(row) + this.duration(row) > from)
        entryOf(found, this.tracks.at(row), () => [] as number[]).push(row);
    return new Map([...found].map(([track, rows]) => [track, this.sorted(Uint32Array.from(rows))]));
  }

  start(row: number): number {
    return this.starts.at(row);
  }

  duration(row: number): number {
    return this.durations.at(row);
  }

  text(row: number): string {
    const at = this.places.at(row) * ALIGNED;
    const length = this.bytesAt(at, 4).readUInt32LE(0);
    return this.bytesAt(at + 4, length).toString('utf8');
  }

  close(): void {
    closeSync(this.file);
  }

  private sorted(rows: Uint32Array): Uint32Array {
    return rows.sort((a, b) => {
      const longer = this.duration(b) - this.duration(a);
      return this.start(a) - this.start(b) || (Number.isNaN(longer) ? 0 : longer) || a - b;
    });
  }

  private flush(room: number): void {
    for (let at = 0; at < this.used;) at += writeSync(this.file, this.buffer, at, this.used - at);
    this.written += this.used;
    this.used = 0;
    if (room > this.buffer.length) this.buffer = Buffer.allocUnsafe(room);
  }

  private bytesAt(at: number, length: number): Buffer {
    const first = Math.floor(at / PAGE);
    const last = Math.floor((at + length - 1) / PAGE);
    const start = at - first * PAGE;
    if (first >= last) return this.page(first).subarray(start, start + length);
    const bytes = Buffer.allocUnsafe(length);
    for (let page = first, from = at; page <= last; page++, from = page * PAGE)
      this.page(page).copy(bytes, from - at, from - page * PAGE);
    return bytes;
  }

  private page(number: number): Buffer {
    const { pages } = this;
    let page = pages.get(number);
    if (page !== undefined) pages.delete(number);
    else {
      const [oldest] = pages.keys();
      page = pages.size < PAGES ? Buffer.allocUnsafeSlow(PAGE) : pages.get(oldest!)!;
      if (pages.size === PAGES) pages.delete(oldest!);
      readSync(this.file, page, 0, PAGE, number * PAGE);
    }
    pages.set(number, page);
    return page;
  }
}

/** Ends of the arrows inside a foreign file: each belongs to the event that begins then on that track. */
export class ArrowEnds {
  private readonly tracks = words();
  private readonly times = doubles();
  /** Even: where it begins, the next number: where it ends. */
  private readonly ids = doubles();
  /** Rows of ends that have another end, by track and time. */
  private order = new Uint32Array(0);

  add(track: number, at: number, id: number, isEnd: boolean): void {
    this.tracks.push(track);
    this.times.push(at);
    this.ids.push(2 * id + (isEnd ? 1 : 0));
  }

  /** After the last end. Returns how many ends have no other end in the file. */
  finish(): number {
    const ids = Float64Array.from({ length: this.ids.length }, (_, row) => this.ids.at(row)).sort();
    const has = (id: number): boolean => ids[firstIndex(ids.length, (i) => ids[i]! >= id)] === id;
    const rows = Uint32Array.from({ length: ids.length }, (_, row) => row);
    this.order = rows
      .filter((row) => has(this.ids.at(row) % 2 === 0 ? this.ids.at(row) + 1 : this.ids.at(row) - 1))
      .sort((a, b) => this.tracks.at(a) - this.tracks.at(b) || this.times.at(a) - this.times.at(b));
    return ids.length - this.order.length;
  }

  /** Ends that have another end. */
  get paired(): number {
    return this.order.length;
  }

  /** The arrows of an event. */
  of(track: number, at: number): number[] {
    const { order, tracks, times } = this;
    const isFrom = (row: number): boolean =>
      tracks.at(row) > track || (tracks.at(row) === track && times.at(row) >= at);
    const found: number[] = [];
    for (let i = firstIndex(order.length, (one) => isFrom(order[one]!)); i < order.length; i++) {
      const row = order[i]!;
      if (tracks.at(row) !== track || times.at(row) !== at) break;
      found.push(Math.floor(this.ids.at(row) / 2));
    }
    return found;
  }
}
