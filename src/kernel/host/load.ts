/** The kernel's WebAssembly, one instance per thread. */

import { readFileSync } from 'node:fs';
// Chooses a build for all of a test's processes and threads. No argument of the command depends on it.
// eslint-disable-next-line no-restricted-imports
import { env } from 'node:process';
import { BugError } from '../../base/assert.js';
import { projectFile } from '../../base/project.js';
import { WebAssembly, type WasmImports, type WasmMemory, type WasmModule } from '../../base/webassembly.js';

/** What src/kernel/index.ts exports. */
export interface KernelExports {
  readonly memory: WasmMemory;
  interfaceVersion(): number;
  checkIndex(index: number, length: number): void;
}

let kernel: KernelExports | undefined;
let module: WasmModule | undefined;

/** This thread's instance. It has one memory, so two readers cannot use it in turns. */
export const loadKernel = (): KernelExports => (kernel ??= newKernel());

/** An instance of its own. */
export function newKernel(imports: WasmImports = {}): KernelExports {
  module ??= new WebAssembly.Module(readFileSync(projectFile(`dist/${kernelFile()}`)));
  const abort = (message: number, file: number, line: number, column: number): never => {
    const text = (at: number): string => textAt(exports.memory, at);
    throw new BugError(`${text(file)}:${line}:${column}: ${text(message)}`);
  };
  const exports = new WebAssembly.Instance(module, { ...imports, env: { ...imports.env, abort } })
    .exports as KernelExports;
  return exports;
}

/** The debug build checks what the release build believes. A checkout has it, an installed package does not. */
const kernelFile = (): string => (env.NCCL_TRACE_KERNEL === 'debug' ? 'kernel.debug.wasm' : 'kernel.wasm');

/** A string of AssemblyScript: UTF-16, its length in bytes lies before it. Null if the source gave no text. */
function textAt({ buffer }: WasmMemory, at: number): string {
  if (at === 0) return 'no message';
  const bytes = new DataView(buffer).getUint32(at - 4, true);
  return new TextDecoder('utf-16le').decode(new Uint8Array(buffer, at, bytes));
}
