/**
 * The container of the files between the steps of a merge (schemas/scan-file.md): a first line, sections, and a table of the sections. A
 * section holds one value, as `v8.serialize` writes it, or plain bytes, and is read when it is needed. Only the build that wrote a file reads
 * it, so the types of the values are those of the code.
 */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { NoUsableInput } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { crc32 } from '../rankfile/format/crc32.js';
import { answered } from '../rankfile/stalls.js';
import { compressFrame, decompressFrame } from '../rankfile/zstd.js';
import { BUILD } from './build.js';
import type { StoredValues } from './stored.js';

/** What follows "nccl-trace " on the first line. */
export type FileKind = keyof StoredValues;

/** Bytes of the two lines at the beginning: the kind, and the build. */
const START = 64;
/** Bytes at the end: where the table begins, and its check. */
const END = 12;
/** Decompressed bytes of a frame, at most. */
const FRAME = 4 << 20;

const startOf = (kind: FileKind): Buffer =>
  Buffer.from(`nccl-trace ${kind}\n${BUILD}\n`.padEnd(START).slice(0, START), 'latin1');

interface Frame {
  readonly at: number;
  readonly stored: number;
  readonly unpacked: number;
  readonly check: number;
}

interface Section {
  readonly tag: string;
  readonly frames: readonly Frame[];
}

export class SectionWriter<Kind extends FileKind> {
  private readonly fd: number;
  private readonly sections: Section[] = [];
  private at = 0;

  constructor(path: string, kind: Kind) {
    this.fd = openSync(path, 'wx', 0o600);
    this.put(startOf(kind));
  }

  value<Tag extends keyof StoredValues[Kind] & string>(tag: Tag, value: StoredValues[Kind][Tag]): void {
    this.bytes(tag, serialize(value));
  }

  bytes(tag: string, bytes: Uint8Array): void {
    const frames: Frame[] = [];
    for (let from = 0; from < bytes.length; from += FRAME) {
      const part = bytes.subarray(from, from + FRAME);
      const stored = compressFrame(part);
      frames.push({ at: this.at, stored: stored.length, unpacked: part.length, check: crc32(stored) });
      this.put(stored);
    }
    this.sections.push({ tag, frames });
  }

  close(): void {
    const table = serialize(this.sections);
    const end = Buffer.alloc(END);
    end.writeBigUInt64LE(BigInt(this.at), 0);
    end.writeUInt32LE(crc32(table), 8);
    this.put(table);
    this.put(end);
    closeSync(this.fd);
  }

  private put(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
    this.at += bytes.length;
  }
}

/** Throws NoUsableInput, with a sentence, for all that is wrong with a file. */
export class SectionFile<Kind extends FileKind> {
  private readonly fd: number;
  private readonly sections: readonly Section[];
  /** A hash of its content. */
  readonly id: string;

  constructor(
    readonly path: string,
    private readonly kind: Kind,
  ) {
    try {
      this.fd = answered(path, () => openSync(path, 'r'));
    } catch (error) {
      throw new NoUsableInput(`${path}: ${reason(error)}; ${ADVICE[kind]}`, { cause: error });
    }
    try {
      const table = this.table();
      this.sections = this.plain(table) as Section[];
      this.id = createHash('sha256').update(table).digest('hex');
    } catch (error) {
      this.close();
      throw error;
    }
  }

  count(tag: string): number {
    return this.tagged(tag).length;
  }

  /** `index`: among those of the tag. */
  value<Tag extends keyof StoredValues[Kind] & string>(tag: Tag, index: number): StoredValues[Kind][Tag] {
    return this.plain(this.bytes(tag, index)) as StoredValues[Kind][Tag];
  }

  bytes(tag: string, index: number): Uint8Array {
    const frames = this.tagged(tag)[index]?.frames ?? this.damaged(`section ${tag} is missing`);
    return Buffer.concat(frames.map((frame) => this.unpacked(frame)));
  }

  /** Checks every section. */
  checkAll(): void {
    for (const { frames } of this.sections) for (const frame of frames) this.stored(frame);
  }

  close(): void {
    closeSync(this.fd);
  }

  damaged(what: string): never {
    throw new NoUsableInput(
      `${this.path}: is damaged: ${what}; make it again with "nccl-trace ${STEP[this.kind]}"`,
    );
  }

  private tagged(tag: string): Section[] {
    return this.sections.filter((section) => section.tag === tag);
  }

  private table(): Buffer {
    const { size } = fstatSync(this.fd);
    const [start, wanted] = [this.read(0, Math.min(START, size)), startOf(this.kind)];
    const line = wanted.indexOf('\n');
    if (!start.subarray(0, line).equals(wanted.subarray(0, line)))
      throw new NoUsableInput(
        `${this.path}: is not a .${this.kind} file of nccl-trace; ${ADVICE[this.kind]}`,
      );
    if (!start.equals(wanted))
      throw new NoUsableInput(
        `${this.path}: was made by another version of nccl-trace; make it again with this one ` +
          `("nccl-trace ${STEP[this.kind]}"): all steps of a merge take one version`,
      );
    const end = size < START + END ? null : this.read(size - END, END);
    const at = Number(end?.readBigUInt64LE(0));
    const table = at >= START && at <= size - END ? this.read(at, size - END - at) : null;
    return table && crc32(table) === end?.readUInt32LE(8)
      ? table
      : this.damaged('its end is missing (the copy was cut short?)');
  }

  private plain(bytes: Uint8Array): unknown {
    try {
      return deserialize(bytes);
    } catch {
      return this.damaged('this version of Node cannot read its values (a newer one wrote it?)');
    }
  }

  private unpacked(frame: Frame): Uint8Array {
    return decompressFrame(this.stored(frame), frame.unpacked) ?? this.damaged('a frame does not unpack');
  }

  private stored({ at, stored, check }: Frame): Buffer {
    const bytes = this.read(at, stored);
    return crc32(bytes) === check ? bytes : this.damaged('a check does not match');
  }

  private read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length;) {
      const got = answered(this.path, () => readSync(this.fd, bytes, done, length - done, at + done));
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
