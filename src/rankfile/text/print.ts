/**
 * A rank file as text (schemas/rank-text.md): its header, then area by area and chunk by chunk all that a reader uses, as it stands in the file.
 * Nothing is paired or judged. Memory holds the areas and one chunk.
 */

import * as format from '../format/constants.js';
import { foldKey } from '../format/handle.js';
import { stateName } from '../format/nccl.js';
import type { ByteSource } from '../byte_source.js';
import { type ChunkEntry, findChunks } from '../chunk_index.js';
import { readPayload } from '../chunk_payload.js';
import { type Area, isCut, readDirectory } from '../directory.js';
import { readHeader } from '../header.js';
import { Problems } from '../problems.js';
import { openSource } from '../rank_file_source.js';
import { frameOf } from '../tick_frame.js';
import { completeSlots } from './bare_slots.js';
import { headerLines, type HiddenHeader } from './header_text.js';
import { quoted } from './line.js';
import { handleToken, type Names } from './record_text.js';
import { type Hide, halvesOf, placesOfArea, positionsOf, slotLines } from './slot_text.js';

/** The first line of every text. */
export const TITLE = 'nccl-trace rank files as text 1';

/** What stands in place of names. */
export interface Redaction extends HiddenHeader {
  readonly hide: Hide;
}

const { AREA_ENTRY: E, AREA_LIVE: L, FOLD: F } = format;
const COUNTERS = ['folded', 'muted', 'nullCalls', 'ordinalsLost'] as const;

/**
 * `name`: of the file, as the text says it. `strings`: of the file, by id. Throws RankFileError for a file without a usable header. Closes the file
 * at its end, also when its reader has had enough.
 */
export function* rankFileLines(
  path: string,
  name: string,
  strings: Names['strings'],
  redaction: Redaction | null,
): Generator<string> {
  const source = openSource(path);
  try {
    yield `file ${quoted(name)}`;
    yield* linesOf(source, strings, redaction);
  } finally {
    source.close();
  }
}

function* linesOf(
  source: ByteSource,
  strings: Names['strings'],
  redaction: Redaction | null,
): Generator<string> {
  const problems = new Problems(); // for a reader of the file; here all is shown as it stands
  const { header, layout } = readHeader(source, problems);
  const { areas } = readDirectory(source, layout, problems);
  const names = { tag: header.tag, startTick: header.tickBase, strings };
  const hide = redaction?.hide ?? null;
  yield* headerLines(source.read(0, format.HEADER_BYTES), redaction);
  const entries = view(source, layout.directoryOffset, layout.areaCount * format.AREA_ENTRY_BYTES);
  const open = areas.map((area) => new OpenArea(source, area)); // before the chunks, as in a file that is still written
  const chunks = findChunks(source, layout, frameOf(header), problems);
  for (const chunk of chunks) {
    const slots = slotsOf(source, chunk);
    if (slots !== null) open.find(({ area }) => area.index === chunk.area)?.compare(slots, chunk);
  }
  const classOf = (index: number): number =>
    entries.getUint32(index * format.AREA_ENTRY_BYTES + E.areaClass, true);
  const order = Array.from({ length: layout.areaCount }, (_, index) => index);
  // Tables first: records refer to their strings and communicators.
  for (const index of order.sort((a, b) => Number(isRing(classOf(a))) - Number(isRing(classOf(b))))) {
    const entry = (field: number): number => entries.getUint32(index * format.AREA_ENTRY_BYTES + field, true);
    const title = `area ${index} ${nameOf(classOf(index))}`;
    const one = open.find(({ area }) => area.index === index);
    if (one === undefined) yield `${title} unusable`;
    else yield* one.lines(title, entry(E.clockIntervalMs), names, hide);
  }
  for (const chunk of chunks) yield* chunkLines(source, chunk, names, hide);
}

export const isRing = (areaClass: number): boolean => areaClass < format.AreaClass.TableCommunicators;

const nameOf = (areaClass: number): string =>
  Object.entries(format.AreaClass).find(([, number]) => number === areaClass)?.[0] ?? String(areaClass);

function view(source: ByteSource, offset: number, length: number): DataView {
  const bytes = new Uint8Array(length); // zeros where the file was cut short
  bytes.set(source.read(offset, length));
  return new DataView(bytes.buffer);
}

class OpenArea {
  /** Bytes of it that the file has, if it ends inside; null: all. */
  private readonly there: number | null;
  private readonly live: DataView;
  private readonly folds: DataView;
  private readonly slots: Uint32Array;
  private readonly positions: Float64Array;
  /** Of slots that a chunk has as well. */
  private readonly twice = new Set<number>();

  constructor(
    source: ByteSource,
    readonly area: Area,
  ) {
    this.there = isCut(area, source.bytes) ? Math.max(0, source.bytes - area.liveOffset) : null;
    this.live = view(source, area.liveOffset, format.AREA_LIVE_BYTES);
    this.folds = view(source, area.foldsOffset, area.foldCapacity * format.FOLD_BYTES);
    this.slots = halvesOf(source.read(area.slotsOffset, area.capacity * format.SLOT_BYTES));
    this.positions = positionsOf(this.slots, placesOfArea(area.capacity, this.usedHead));
  }

  private get head(): bigint {
    return this.live.getBigUint64(L.head, true);
  }

  /** A reader reads an impossible head as 0. */
  private get usedHead(): number {
    return this.head > BigInt(format.POSITION_MASK) ? 0 : Number(this.head);
  }

  /** Notes which slots the chunk has as well. */
  compare(slots: Uint32Array, { first, end }: ChunkEntry): void {
    for (let position = first; position < end; position++) {
      const index = position % this.area.capacity;
      if (this.positions[index] !== position) continue;
      const [own, other] = [index * 8, (position - first) * 8];
      if ([0, 1, 2, 3, 4, 5, 6, 7].every((half) => this.slots[own + half] === slots[other + half]))
        this.twice.add(index);
    }
  }

  *lines(title: string, interval: number, names: Names, hide: Hide | null): Generator<string> {
    const { capacity, foldCapacity } = this.area;
    const newest = this.positions.reduce((most, position) => Math.max(most, position + 1), 0);
    const facts = [
      `capacity=${capacity}`,
      ...(foldCapacity === 0 ? [] : [`folds=${foldCapacity}`]),
      ...(interval === 0 ? [] : [`interval=${interval}`]),
      ...(this.there === null ? [] : [`cut=${this.there}`]),
      ...(this.head === BigInt(newest) ? [] : [`head=${this.head}`]),
      ...COUNTERS.flatMap((name) => {
        const count = this.live.getBigUint64(L[name], true);
        return count === 0n ? [] : [`${name}=${count}`];
      }),
    ];
    yield [title, ...facts].join(' ');
    yield* this.foldLines(names);
    yield* slotLines(this.slots, this.positions, names, hide, (index) => !this.twice.has(index));
    const positions = [...this.twice].map((index) => this.positions[index]!).sort((a, b) => a - b);
    for (let i = 0, from = 0; i < positions.length; i++)
      if (positions[i + 1] !== positions[i]! + 1) {
        yield `also from=${positions[from]!} end=${positions[i]! + 1}`;
        from = i + 1;
      }
  }

  private *foldLines({ tag, startTick }: Names): Generator<string> {
    for (let at = 0; at < this.folds.byteLength; at += format.FOLD_BYTES) {
      const handle = this.folds.getBigUint64(at + F.handle, true);
      const control = this.folds.getBigUint64(at + F.control, true);
      const count = control & 0xffff_ffffn;
      if (handle === 0n || count === 0n) continue;
      const state = Number((control >> 32n) & 0xffffn);
      const stateText = state === format.FOLD_STATE_START ? 'start' : stateName(state).replace('state ', '');
      const last = this.folds.getBigUint64(at + F.lastTick, true) - startTick;
      const key = Number(control >> 48n) === foldKey(handle) ? '' : ` key=${control >> 48n}`;
      yield `fold handle=${handleToken(handle, tag)} state=${stateText} count=${count} lastTick=${last}${key}`;
    }
  }
}

/** null: its payload cannot be used. */
function slotsOf(source: ByteSource, chunk: ChunkEntry): Uint32Array | null {
  const payload = readPayload(source, chunk, new Problems());
  return payload === null ? null : halvesOf(completeSlots(payload, chunk.first));
}

function* chunkLines(
  source: ByteSource,
  chunk: ChunkEntry,
  names: Names,
  hide: Hide | null,
): Generator<string> {
  const slots = slotsOf(source, chunk);
  const { area, sequence, first, end, span } = chunk;
  const times = span === null ? '' : ` firstTick=${span.first} lastTick=${span.last}`;
  const title = `chunk area=${area} sequence=${sequence} from=${first} end=${end}${times}`;
  if (slots === null) {
    yield `${title} unusable`;
    return;
  }
  yield title;
  const positions = positionsOf(slots, (index, stored) =>
    (first + index) % 2 ** 24 === stored ? first + index : -1,
  );
  yield* slotLines(slots, positions, names, hide);
}
