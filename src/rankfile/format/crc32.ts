/**
 * CRC-32 as in zlib (polynomial 0xEDB88320, reflected). Node has one from 20.15 on, which is ten times as fast and is used if it exists.
 */

import * as zlib from 'node:zlib';

const table = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  table[byte] = crc;
}

const { crc32: nodes } = zlib as { readonly crc32?: (bytes: Uint8Array) => number };

export function crc32(bytes: Uint8Array): number {
  if (nodes) return nodes(bytes);
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
