/**
 * Requests to a running recorder, as two words in its rank file (schemas/rank-file.md, Control). The recorder checks them: a request can
 * only reduce what it recorded at its start, or restore it.
 */

import { closeSync, constants, openSync, writeSync } from 'node:fs';

import * as format from './format/constants.js';
import { crc32 } from './format/crc32.js';
import { RankFileError } from '../base/errors.js';
import { type ByteSource, descriptorSource, openFile } from './byte_source.js';

const H = format.FILE_HEADER;

export interface ControlWish {
  /** Event types, as bits. */
  readonly events: number;
  /** Each Nth collective; 0: as at the start. */
  readonly sample: number;
}

/** A request as it was written into the file. */
export interface ControlRequest {
  readonly number: number;
  /** The two words, 16 bytes. */
  readonly words: DataView;
}

/** Called before several requests. Throws the system's error if a request is not possible. */
export function checkMayRequest(path: string): void {
  closeSync(openSync(path, WRITABLE));
}

/**
 * Writes the request. `tag`: of the file that was looked at: another file may have its name now, and gets nothing. Throws the system's error,
 * and RankFileError.
 */
export function requestControl(path: string, tag: bigint, wish: ControlWish): ControlRequest {
  const descriptor = openSync(path, WRITABLE);
  const file = descriptorSource(path, descriptor);
  try {
    const view = headerIn(file);
    if (view.byteLength < format.HEADER_BYTES || view.getBigUint64(H.tag, true) !== tag)
      throw new RankFileError({ path, what: 'was replaced meanwhile', advice: 'ask again' });
    const request = requestTo(view, wish);
    // The control word is written before its number. A recorder that looks in between finds the old number and ignores the word.
    writeSync(descriptor, new Uint8Array(request.words.buffer, 0, 8), 0, 8, H.controlWord);
    writeSync(descriptor, new Uint8Array(request.words.buffer, 8, 8), 0, 8, H.controlGeneration);
    return request;
  } finally {
    file.close();
  }
}

/** A pipe in its place must not wait for its reader. */
const WRITABLE = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function requestTo(view: DataView, { events, sample }: ControlWish): ControlRequest {
  const words = new DataView(new ArrayBuffer(16));
  words.setUint32(0, events, true);
  words.setUint32(4, sample, true);
  const answered = Number(view.getBigUint64(H.controlAnswered, true));
  const number = (Math.max(answered, view.getUint32(H.controlGeneration, true)) + 1) >>> 0 || 1;
  words.setUint32(8, number, true);
  words.setUint32(12, checkOf(view.getBigUint64(H.tag, true), words.getBigUint64(0, true), number), true);
  return { number, words };
}

/** False if another request has been written since, completely or in part. */
export function isCurrent(path: string, { words }: ControlRequest): boolean {
  const view = headerOf(path);
  return [0, 8].every((at) => view.getBigUint64(H.controlWord + at, true) === words.getBigUint64(at, true));
}

function headerOf(path: string): DataView {
  const file = openFile(path);
  try {
    return headerIn(file);
  } finally {
    file.close();
  }
}

function headerIn(file: ByteSource): DataView {
  const bytes = file.read(0, format.HEADER_BYTES);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function checkOf(tag: bigint, word: bigint, number: number): number {
  const view = new DataView(new ArrayBuffer(24));
  view.setBigUint64(0, tag, true);
  view.setBigUint64(8, word, true);
  view.setBigUint64(16, BigInt(number), true);
  return crc32(new Uint8Array(view.buffer));
}
