#!/usr/bin/env node
/**
 * Copies the rank files of a folder without the part of their rings that was never used: a sample of a recording with large rings. The places of
 * areas and the capacities of rings change, no record and no position. usage, after a build: shrink-recording.mjs FOLDER OUTPUT
 */

import { Buffer } from 'node:buffer';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  AREA_ENTRY,
  AREA_ENTRY_BYTES,
  CHUNK_ALIGNMENT,
  FILE_HEADER,
} from '../build/modules/rankfile/format/constants.js';
import { crc32 } from '../build/modules/rankfile/format/crc32.js';

const SLOT = 32;
const FOLD = 32;
const LIVE = 128;
const HEADER = 4096;
const FIXED = 2048;
/** Of area classes: tables begin here. They are small. */
const FIRST_TABLE = 16;

const [from, to] = process.argv.slice(2);
mkdirSync(to, { recursive: true });
for (const name of readdirSync(from)
  .filter((file) => file.endsWith('.bin'))
  .sort()) {
  const small = shrink(readFileSync(path.join(from, name)));
  writeFileSync(path.join(to, name), small);
  console.log(`${name}: ${small.length} bytes`);
}

function shrink(file) {
  const big = (offset) => Number(file.readBigUInt64LE(offset));
  const count = file.readUInt32LE(FILE_HEADER.areaCount);
  const directory = big(FILE_HEADER.directoryOffset);
  const entries = Buffer.from(file.subarray(directory, directory + count * AREA_ENTRY_BYTES));
  const parts = [];
  let end = align(HEADER + entries.length, 128);
  const keep = (offset, bytes) => {
    parts.push({ offset, bytes, at: end });
    end = align(end + bytes, 128);
    return BigInt(parts.at(-1).at);
  };
  for (let at = 0; at < entries.length; at += AREA_ENTRY_BYTES) {
    const field = (name) => Number(entries.readBigUInt64LE(at + AREA_ENTRY[name]));
    const capacity = entries.readUInt32LE(at + AREA_ENTRY.capacity);
    const head = big(field('liveOffset'));
    const isRing = entries.readUInt32LE(at + AREA_ENTRY.areaClass) < FIRST_TABLE;
    const room =
      isRing && head < capacity
        ? Math.min(capacity, 2 ** Math.ceil(Math.log2(Math.max(head + 1, 64))))
        : capacity;
    const slots = field('slotsOffset');
    const unused = file.subarray(slots + room * SLOT, slots + capacity * SLOT);
    if (unused.some((byte) => byte !== 0)) throw new Error('records behind the head');
    const folds = entries.readUInt32LE(at + AREA_ENTRY.foldCapacity) * FOLD;
    entries.writeUInt32LE(room, at + AREA_ENTRY.capacity);
    entries.writeBigUInt64LE(keep(field('liveOffset'), LIVE), at + AREA_ENTRY.liveOffset);
    entries.writeBigUInt64LE(keep(field('foldsOffset'), folds), at + AREA_ENTRY.foldsOffset);
    entries.writeBigUInt64LE(keep(slots, room * SLOT), at + AREA_ENTRY.slotsOffset);
  }
  const oldChunks = big(FILE_HEADER.chunksOffset);
  const chunks = align(end, CHUNK_ALIGNMENT);
  const small = Buffer.alloc(chunks + file.length - oldChunks);
  file.copy(small, 0, 0, HEADER);
  entries.copy(small, HEADER);
  for (const { offset, bytes, at } of parts) file.copy(small, at, offset, offset + bytes);
  file.copy(small, chunks, oldChunks);
  small.writeBigUInt64LE(BigInt(HEADER), FILE_HEADER.directoryOffset);
  small.writeBigUInt64LE(BigInt(chunks), FILE_HEADER.chunksOffset);
  for (const name of ['chunksBegin', 'chunksEnd']) {
    const old = big(FILE_HEADER[name]);
    if (old !== 0) small.writeBigUInt64LE(BigInt(old - oldChunks + chunks), FILE_HEADER[name]);
  }
  small.writeUInt32LE(0, FILE_HEADER.headerCrc);
  small.writeUInt32LE(crc32(small.subarray(0, FIXED)), FILE_HEADER.headerCrc);
  return small;
}

function align(offset, to) {
  return Math.ceil(offset / to) * to;
}
