/** Decoded messages as values that can be compared: 64 bits as bigint, absent lists and defaults left out. */

import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { signed, unsigned } from './view/messages.js';

const { Trace } = perfetto.protos;

export const plainPackets = (bytes: Uint8Array): unknown => plain(Trace.decode(bytes).packet);

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'object' || value === null) return value;
  if ('low' in value && 'high' in value) {
    const long = value as { low: number; high: number; unsigned: boolean };
    return long.unsigned ? unsigned(long) : signed(long);
  }
  const entries = Object.entries(value).filter(([, part]) => !(Array.isArray(part) && part.length === 0));
  return Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]));
}
