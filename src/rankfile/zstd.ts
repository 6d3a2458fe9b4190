/**
 * zstd, one frame at a time: what a chunk's payload is, and what a .zst trace is made of (frames concatenate). Node's own
 * zlib has it from 22.15 on only; the package below is the reference implementation compiled to WebAssembly, the same on
 * every Node, so the same bytes come out. CONTRIBUTING.md has the figures it was chosen by.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Zstd from '@bokuweb/zstd-wasm';
import { claimedSize } from '../base/zstd_frame.js';

type Package = typeof Zstd;

/** Level 1: at 3 traces become 3 % smaller and take half as long again. */
const LEVEL = 1;

let started: Package | undefined;

/** Once per thread, when the first frame comes: most runs have none, and to start it takes a tenth of the smallest run. */
const zstd = (): Package => (started ??= start());

export const compressFrame = (bytes: Uint8Array): Uint8Array => zstd().compress(bytes, LEVEL);

/**
 * The `size` bytes that a frame holds; null if it is damaged or holds anything else. The size a frame claims is compared
 * before a byte is allocated for it: a frame of a few bytes may claim any.
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

/** Of TypeScript's libraries only the browser's knows it. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => object;
};

/** What Emscripten calls in place of its own, asynchronous loading, if it is there. */
interface Emscripten {
  instantiateWasm: (imports: object, receive: (instance: object) => unknown) => unknown;
  init: () => void;
}

/** The package's own `init` is asynchronous, and a reader of rings cannot wait. */
function start(): Package {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@bokuweb/zstd-wasm');
  const beside = (name: string): string => path.join(path.dirname(entry), name);
  const { Module } = require(beside('module.js')) as { Module: Emscripten };
  Module.instantiateWasm = (imports, receive) => {
    const code = new WebAssembly.Module(readFileSync(beside('zstd.wasm')));
    return receive(new WebAssembly.Instance(code, imports));
  };
  Module.init();
  return require(entry) as Package;
}
