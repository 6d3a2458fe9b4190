/**
 * zstd, one frame at a time: a chunk's payload, or part of a .zst trace (frames concatenate). Node's zlib only has it from 22.15 on. The
 * package below is the reference implementation compiled to WebAssembly, so every Node gives the same bytes. CONTRIBUTING.md has the
 * figures for this choice.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Zstd from '@bokuweb/zstd-wasm';
import { WebAssembly } from '../base/webassembly.js';
import { claimedSize } from '../base/zstd_frame.js';
import { withAddresses } from '../kernel/host/addresses.js';

type Package = typeof Zstd;

/**
 * A trace of 69 MB (2.6 M records) and its packing, in MB and seconds of CPU time: level 3: 13.2, 0.7; 5: 12.6, 1.1; 6: 11.6, 1.5. Merging it takes
 * 4 to 5 s. Packed traces are copied and attached more often than they are made.
 */
const LEVEL = 5;

let started: Package | undefined;

/** Started once per thread, at the first frame. Most runs have no frame, and the start takes a tenth of the time of the smallest run. */
const zstd = (): Package => (started ??= start());

export const compressFrame = (bytes: Uint8Array): Uint8Array => zstd().compress(bytes, LEVEL);

/**
 * The `size` bytes of a frame. null if the frame is damaged or has another size. The claimed size is checked before memory is allocated,
 * because a small frame may claim any size.
 */
export function decompressFrame(frame: Uint8Array, size: number): Uint8Array | null {
  if (claimedSize(frame) !== size) return null;
  try {
    const bytes = zstd().decompress(frame);
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}

/** Emscripten calls this instead of its own asynchronous loading, if present. */
interface Emscripten {
  instantiateWasm: (imports: object, receive: (instance: object) => unknown) => unknown;
  init: () => void;
}

/** The package's `init` is asynchronous, and a reader of rings cannot wait. */
function start(): Package {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@bokuweb/zstd-wasm');
  const beside = (name: string): string => path.join(path.dirname(entry), name);
  const { Module } = require(beside('module.js')) as { Module: Emscripten };
  const code = new WebAssembly.Module(readFileSync(beside('zstd.wasm')));
  // What it throws in there the package prints, and goes on without zstd.
  const refused: Error[] = [];
  Module.instantiateWasm = (imports, receive) => {
    try {
      return receive(withAddresses(() => new WebAssembly.Instance(code, imports)));
    } catch (error) {
      refused.push(error as Error);
      return {};
    }
  };
  Module.init();
  for (const error of refused) throw error;
  return require(entry) as Package;
}
