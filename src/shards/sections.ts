/**
 * The container of the files between the steps of a merge (schemas/scan-file.md): a kind, a version, and sections, each with its length and
 * check. A section is read when it is needed. The last section contains the number of sections, so a cut file is noticed. This file does
 * not know what the sections mean.
 */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { decode, encode } from '@msgpack/msgpack';
import { NoUsableInput } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { crc32 } from '../rankfile/format/crc32.js';
import { answered } from '../rankfile/stalls.js';
import { compressFrame, decompressFrame } from '../rankfile/zstd.js';
import { SHAPES_ID, STORED } from './generated/shapes.js';
import { fromWire, Mismatch, toWire } from './shape.js';
import type { StoredTypes } from './stored.js';

/** What follows "nccl-trace " on the first line. */
export type FileKind = 'scan' | 'study' | 'part';

export const VERSION = 2;
const TAG = 4;
/** Tag, check, bytes in the file, bytes after decompression. */
const SECTION = 24;
/** Decompressed bytes of a frame, at most. */
const FRAME = 4 << 20;
/**
 * Limits how much memory a short file can ask for, because zstd compresses zeros far better than this. Our own sections compress by a
 * factor of a hundred at most.
 */
const MOST_RATIO = 1000;

const firstLine = (kind: FileKind): Buffer =>
  Buffer.from(`nccl-trace ${kind}\n`.padEnd(24).slice(0, 24), 'latin1');

export class SectionWriter {
  private readonly fd: number;
  private readonly digest = createHash('sha256');
  private count = 0;

  constructor(path: string, kind: FileKind) {
    this.fd = openSync(path, 'wx', 0o666);
    const start = Buffer.alloc(32);
    firstLine(kind).copy(start);
    start.writeUInt32LE(VERSION, 24);
    start.writeUInt32LE(SHAPES_ID, 28);
    this.put(start);
  }

  value<Name extends keyof StoredTypes>(tag: string, name: Name, value: StoredTypes[Name]): void {
    this.bytes(tag, encode(toWire(STORED[name], value), { useBigInt64: true }));
  }

  bytes(tag: string, bytes: Uint8Array): void {
    const packed: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += FRAME) {
      const frame = compressFrame(bytes.subarray(at, at + FRAME));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(frame.length);
      packed.push(length, frame);
    }
    this.section(tag, Buffer.concat(packed), bytes.length);
  }

  /** The same input gives the same text. */
  close(): string {
    const end = Buffer.alloc(4);
    end.writeUInt32LE(this.count);
    this.section('end ', end, end.length);
    closeSync(this.fd);
    return this.digest.digest('hex');
  }

  private section(tag: string, stored: Uint8Array, unpacked: number): void {
    const head = Buffer.alloc(SECTION);
    head.write(tag, 0, TAG, 'latin1');
    head.writeUInt32LE(crc32(stored), 4);
    head.writeBigUInt64LE(BigInt(stored.length), 8);
    head.writeBigUInt64LE(BigInt(unpacked), 16);
    this.count++;
    this.put(head);
    this.put(stored);
  }

  private put(bytes: Uint8Array): void {
    this.digest.update(bytes);
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
  }
}

interface Section {
  readonly tag: string;
  readonly check: number;
  readonly at: number;
  readonly stored: number;
  readonly unpacked: number;
}

/** Throws NoUsableInput, with a sentence, for all that is wrong with a file. */
export class SectionFile {
  private readonly fd: number;
  private readonly sections: readonly Section[];

  constructor(
    readonly path: string,
    private readonly kind: FileKind,
  ) {
    try {
      this.fd = answered(path, () => openSync(path, 'r'));
    } catch (error) {
      throw new NoUsableInput(`${path}: ${reason(error)}; ${ADVICE[kind]}`, { cause: error });
    }
    try {
      this.checkStart();
      this.sections = this.findSections();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  count(tag: string): number {
    return this.tagged(tag).length;
  }

  /** `index`: among those of the tag. */
  value<Name extends keyof StoredTypes>(tag: string, index: number, name: Name): StoredTypes[Name] {
    const bytes = this.bytes(tag, index);
    try {
      const limits = { maxStrLength: bytes.length, maxBinLength: bytes.length, maxArrayLength: bytes.length };
      const more = { maxMapLength: bytes.length, maxExtLength: bytes.length };
      const wire = decode(bytes, { useBigInt64: true, ...limits, ...more });
      return fromWire(STORED[name], wire, name) as StoredTypes[Name];
    } catch (error) {
      if (error instanceof Mismatch) return this.damaged(error.message);
      return this.damaged(`section ${tag.trim()} is no MessagePack`, error);
    }
  }

  bytes(tag: string, index: number): Uint8Array {
    const section = this.tagged(tag)[index];
    if (section === undefined) return this.damaged(`section ${tag.trim()} is missing`);
    const stored = this.stored(section);
    const unpacked = new Uint8Array(section.unpacked);
    let from = 0;
    let to = 0;
    while (to < unpacked.length) {
      const view = new DataView(stored.buffer, stored.byteOffset);
      const length = from + 4 <= stored.length ? view.getUint32(from, true) : Infinity;
      const size = Math.min(FRAME, unpacked.length - to);
      const frame = from + 4 + length <= stored.length ? stored.subarray(from + 4, from + 4 + length) : null;
      const bytes = frame && decompressFrame(frame, size);
      if (bytes === null) return this.damaged(`section ${tag.trim()} cannot be decompressed`);
      unpacked.set(bytes, to);
      from += 4 + length;
      to += size;
    }
    return unpacked;
  }

  /** Checks every section. */
  checkAll(): void {
    for (const section of this.sections) this.stored(section);
  }

  /** A hash of all bytes of the file. */
  id(): string {
    const digest = createHash('sha256');
    const { size } = fstatSync(this.fd);
    for (let at = 0; at < size; at += FRAME) digest.update(this.read(at, Math.min(FRAME, size - at)));
    return digest.digest('hex');
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Throws for damage that the file's own checks find. */
  damaged(what: string, cause?: unknown): never {
    throw new NoUsableInput(
      `${this.path}: is damaged: ${what}; make it again with "nccl-trace ${STEP[this.kind]}"`,
      {
        cause,
      },
    );
  }

  private tagged(tag: string): Section[] {
    return this.sections.filter((section) => section.tag === tag);
  }

  private checkStart(): void {
    const start = this.read(0, Math.min(32, fstatSync(this.fd).size));
    if (!start.subarray(0, 24).equals(firstLine(this.kind)))
      throw new NoUsableInput(
        `${this.path}: is not a .${this.kind} file of nccl-trace; ${ADVICE[this.kind]}`,
      );
    const isSame =
      start.length === 32 && start.readUInt32LE(24) === VERSION && start.readUInt32LE(28) === SHAPES_ID;
    if (!isSame)
      throw new NoUsableInput(
        `${this.path}: was made by another version of nccl-trace; make it again with this one ` +
          `("nccl-trace ${STEP[this.kind]}"): all steps of a merge take one version`,
      );
  }

  private findSections(): Section[] {
    const { size } = fstatSync(this.fd);
    const found: Section[] = [];
    for (let at = 32; at + SECTION <= size;) {
      const head = this.read(at, SECTION);
      const [stored, unpacked] = [Number(head.readBigUInt64LE(8)), Number(head.readBigUInt64LE(16))];
      const tag = head.toString('latin1', 0, TAG);
      if (at + SECTION + stored > size || unpacked > MOST_RATIO * stored) break;
      found.push({ tag, check: head.readUInt32LE(4), at: at + SECTION, stored, unpacked });
      at += SECTION + stored;
    }
    const last = found.at(-1);
    const isWhole = last?.tag === 'end ' && last.at + last.stored === size && last.stored === 4;
    if (!isWhole || this.stored(last).readUInt32LE(0) !== found.length - 1)
      return this.damaged('its end is missing (the copy was cut short?)');
    return found;
  }

  private stored({ tag, at, stored, check }: Section): Buffer {
    const bytes = this.read(at, stored);
    return crc32(bytes) === check ? bytes : this.damaged(`the check of section ${tag.trim()} does not match`);
  }

  private read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length;) {
      const piece = Math.min(FRAME, length - done);
      const got = answered(this.path, () => readSync(this.fd, bytes, done, piece, at + done));
      if (got === 0) return this.damaged('it became shorter while it was read');
      done += got;
    }
    return bytes;
  }
}

const STEP: Readonly<Record<FileKind, string>> = { scan: 'scan', study: 'study', part: 'convert' };

const ADVICE: Readonly<Record<FileKind, string>> = {
  scan: '"nccl-trace scan FILES -o node.scan" makes one of rank files',
  study: '"nccl-trace study SCANS -o run.study" makes one of scans',
  part: '"nccl-trace convert --study run.study FILES -o node.part" makes one of rank files',
};
