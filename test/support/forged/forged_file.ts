/**
 * A recorded rank file with single fields changed and all checks computed again. A broken writer, bad memory or an
 * attacker can leave such a file, and no check finds it. Fields are found by the layouts of src/rankfile/format. Checks
 * are computed from the text of schemas/rank-file.md (slot_area.ts), not by the reader.
 */

import { memorySource } from '../../../src/rankfile/byte_source.js';
import { type Area, readDirectory } from '../../../src/rankfile/directory.js';
import * as format from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';
import { type Field, LAYOUTS } from '../../../src/rankfile/format/layouts.js';
import { readHeader } from '../../../src/rankfile/header.js';
import { Problems } from '../../../src/rankfile/problems.js';
import { positionsIn } from '../rank_files/slot_positions.js';
import { word3 } from '../rank_files/slot_area.js';

/** One number in a file. */
export interface Place {
  /** "header.rank", "heartbeat.ClockSample.tick", "host.StartColl.rank". */
  readonly name: string;
  readonly bits: number;
  readonly get: () => bigint;
  /** All checks hold afterwards. */
  readonly set: (value: bigint) => void;
}

export class ForgedFile {
  readonly bytes: Uint8Array;
  private readonly view: DataView;

  constructor(recorded: Uint8Array) {
    // Not slice(): on a Buffer it returns a view.
    this.bytes = new Uint8Array(recorded);
    this.view = new DataView(this.bytes.buffer);
  }

  /** The first place of this name. */
  set(name: string, value: bigint | number, nth = 0): this {
    const place = this.places().filter((one) => one.name === name)[nth];
    if (place === undefined) throw new Error(`no field ${name} in this file`);
    place.set(BigInt(value));
    return this;
  }

  places(): Place[] {
    return [
      ...Object.keys(format.FILE_HEADER).flatMap((name) => this.headerPlace(name as HeaderField)),
      ...this.directoryPlaces(),
      ...this.chunkPlaces(),
      ...this.areas().flatMap((area) => this.areaPlaces(area)),
    ];
  }

  /** Where areas lie and how large they are. The directory has no check. */
  private directoryPlaces(): Place[] {
    const count = this.view.getUint32(format.FILE_HEADER.areaCount, true);
    const start = Number(this.view.getBigUint64(format.FILE_HEADER.directoryOffset, true));
    return Array.from({ length: count }, (_, i) => start + i * format.AREA_ENTRY_BYTES).flatMap((at) =>
      AREA_FIELDS.map(([name, bits]) => this.place(`area.${name}`, at + format.AREA_ENTRY[name], bits)),
    );
  }

  /** The numbers in front of what was packed. */
  private chunkPlaces(): Place[] {
    const first = Number(this.view.getBigUint64(format.FILE_HEADER.chunksOffset, true));
    const starts = Array.from(
      { length: Math.max(0, Math.ceil((this.bytes.length - first) / format.CHUNK_ALIGNMENT)) },
      (_, i) => first + i * format.CHUNK_ALIGNMENT,
    ).filter(
      (at) =>
        at + format.CHUNK_HEADER_BYTES <= this.bytes.length &&
        this.view.getUint32(at, true) === format.CHUNK_MAGIC,
    );
    return starts.flatMap((at) =>
      CHUNK_FIELDS.map(([name, bits]) =>
        this.place(`chunk.${name}`, at + format.CHUNK_HEADER[name], bits, () => {
          this.sealChunk(at);
        }),
      ),
    );
  }

  private headerPlace(name: HeaderField): Place[] {
    const bytes = HEADER_WIDTHS[name];
    if (bytes === undefined) return [];
    return [
      this.place(`header.${name}`, format.FILE_HEADER[name], bytes * 8, () => {
        this.sealHeader();
      }),
    ];
  }

  private areas(): readonly Area[] {
    const source = memorySource('forged.bin', this.bytes);
    const problems = new Problems();
    return readDirectory(source, readHeader(source, problems).layout, problems).areas;
  }

  private areaPlaces(area: Area): Place[] {
    const name = area.ring ?? area.table!;
    const live = Object.entries(format.AREA_LIVE).map(([field, offset]) =>
      this.place(`${name}.live.${field}`, area.liveOffset + offset, 64),
    );
    return [...live, ...this.foldPlaces(name, area), ...this.slotPlaces(name, area)];
  }

  private foldPlaces(name: string, area: Area): Place[] {
    return Array.from({ length: area.foldCapacity }, (_, i) => area.foldsOffset + i * format.FOLD_BYTES)
      .filter((at) => this.view.getBigUint64(at, true) !== 0n)
      .flatMap((at) => [
        this.place(`${name}.fold.lastTick`, at + format.FOLD.lastTick, 64),
        this.place(`${name}.fold.count`, at + format.FOLD.control, 32),
        this.place(`${name}.fold.state`, at + format.FOLD.control + 4, 16),
      ]);
  }

  /** The fields of all valid slots, including the later parts of a record. */
  private slotPlaces(name: string, area: Area): Place[] {
    const at = area.slotsOffset;
    const words = new Uint32Array(this.bytes.slice(at, at + area.capacity * format.SLOT_BYTES).buffer);
    const head = Number(this.view.getBigUint64(area.liveOffset, true));
    const position = positionsIn(words, area.capacity, head);
    return [...position].flatMap((position, index) =>
      position < 0 ? [] : this.fieldsOfSlot(name, at + index * format.SLOT_BYTES, position),
    );
  }

  private fieldsOfSlot(name: string, at: number, position: number): Place[] {
    const meta = this.view.getUint16(at + 24, true);
    const part = (meta >> 8) & 15;
    const layout = LAYOUTS.get(meta & 0xff);
    const fields = layout?.layouts[0]?.fields ?? [];
    return fields
      .filter(({ slot }) => slot === part)
      .map((field) => this.fieldPlace(`${name}.${layout!.name}.${field.name}`, at, field, position));
  }

  private fieldPlace(name: string, slot: number, field: Field, position: number): Place {
    const at = slot + field.word * 8;
    const shift = BigInt(field.shift);
    const mask = ((1n << BigInt(field.bits)) - 1n) << shift;
    return {
      name,
      bits: field.bits,
      get: () => (this.view.getBigUint64(at, true) & mask) >> shift,
      set: (value) => {
        const rest = this.view.getBigUint64(at, true) & ~mask;
        this.view.setBigUint64(at, rest | ((value << shift) & mask), true);
        this.sealSlot(slot, position);
      },
    };
  }

  private place(name: string, at: number, bits: number, seal: () => void = () => undefined): Place {
    const read = { 16: 'getUint16', 32: 'getUint32', 64: 'getBigUint64' } as const;
    return {
      name,
      bits,
      get: () => BigInt(this.view[read[bits as 16 | 32 | 64]](at, true)),
      set: (value) => {
        for (let byte = 0; byte < bits / 8; byte++)
          this.bytes[at + byte] = Number((value >> BigInt(byte * 8)) & 0xffn);
        seal();
      },
    };
  }

  private sealSlot(at: number, position: number): void {
    const meta = this.view.getUint16(at + 24, true);
    const words = [0, 8, 16].map((word) => this.view.getBigUint64(at + word, true));
    const proof = word3(words, meta & 0xff, (meta >> 8) & 15, meta >> 12, position);
    this.view.setBigUint64(at + 24, proof, true);
  }

  private sealChunk(at: number): void {
    this.view.setUint32(at + format.CHUNK_HEADER.headerCrc, 0, true);
    const crc = crc32(this.bytes.subarray(at, at + format.CHUNK_HEADER_BYTES));
    this.view.setUint32(at + format.CHUNK_HEADER.headerCrc, crc, true);
  }

  private sealHeader(): void {
    this.view.setUint32(format.FILE_HEADER.headerCrc, 0, true);
    const crc = crc32(this.bytes.subarray(0, format.HEADER_FIXED_BYTES));
    this.view.setUint32(format.FILE_HEADER.headerCrc, crc, true);
  }
}

type HeaderField = keyof typeof format.FILE_HEADER;

const AREA_FIELDS = [
  ['areaClass', 32],
  ['capacity', 32],
  ['liveOffset', 64],
  ['foldsOffset', 64],
  ['slotsOffset', 64],
  ['foldCapacity', 32],
  ['clockIntervalMs', 32],
] as const;

const CHUNK_FIELDS = [
  ['codec', 16],
  ['area', 16],
  ['firstPosition', 64],
  ['endPosition', 64],
  ['firstTick', 64],
  ['lastTick', 64],
  ['sequence', 64],
  ['rawBytes', 32],
  ['storedBytes', 32],
  ['payloadCrc', 32],
] as const;

/** In bytes. Left out: texts, checks, and fields without which the file is not read at all. */
const HEADER_WIDTHS: Partial<Record<HeaderField, number>> = {
  ...{ writerVersion: 2, areaCount: 4, directoryOffset: 8, chunksOffset: 8, tag: 8, pidNamespace: 8 },
  ...{ processStart: 8, pid: 4, tickSource: 4, tickHz: 8, startTick: 8, startRealtime: 8, startMonotonic: 8 },
  ...{
    rank: 4,
    worldSize: 4,
    localRank: 4,
    mode: 4,
    eventMask: 8,
    sampleEvery: 8,
    ringBytes: 8,
    maxBytes: 8,
  },
  ...{
    placement: 4,
    copyIntervalMs: 4,
    snapshotRealtime: 8,
    ncclVersion: 4,
    life: 4,
    maskNow: 8,
    chunksBegin: 8,
  },
  ...{
    chunksEnd: 8,
    copiedTick: 8,
    communicatorsLost: 8,
    stringsLost: 8,
    leasesLost: 8,
    threadsOverflowed: 8,
  },
  ...{ ioErrors: 8, controlAnswered: 8, controlRefused: 8, sampleNow: 8, changedTick: 8 },
};
