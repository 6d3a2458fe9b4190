/**
 * The addon (native/addon): what WebAssembly cannot do. An install builds it if there is a C++ compiler. Without it chunks are unpacked more
 * slowly, nothing notices a read that hangs, and what a killed command left stays.
 */

import { createRequire } from 'node:module';
import { nativeFile } from './native_file.js';

/** As in native/addon/addon.cc. */
const INTERFACE = 6;

/** Exports of native/addon/addon.cc. */
export interface Addon {
  readonly interface: number;
  /** Missing if the build found no zstd. */
  decompress?(frame: Uint8Array, size: number): Uint8Array | null;
  /** See stalls.ts. */
  readBegins(name: string): void;
  readEnds(): void;
  hideNames(): void;
  /** Whether no other process holds this file. Then this one does, until it closes the descriptor or ends. */
  lock(fd: number): boolean;
}

/** Refuses an addon that was built from other sources, because it would read missing arguments. */
export const isOurs = (addon: unknown): addon is Addon =>
  (addon as Partial<Addon> | null)?.interface === INTERFACE;

export const addon: Addon | null = load();

function load(): Addon | null {
  try {
    const found: unknown = createRequire(import.meta.url)(nativeFile('nccl-trace-decoder.node'));
    return isOurs(found) ? found : null;
  } catch {
    return null;
  }
}
