/** The part of WebAssembly that is used here. Only the browser's TypeScript library declares it. */

/** Compiled code. It has no state, so several threads can share it. */
export interface WasmModule {
  readonly __brand: 'WebAssembly.Module';
}

export interface WasmMemory {
  /** Replaced when the memory grows; views of the old buffer are then empty. */
  readonly buffer: ArrayBuffer;
}

export const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Module: new (code: Uint8Array) => WasmModule;
    /** In pages of 64 KiB. RangeError: the system refuses the addresses. */
    Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
    Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
    /** What a trap throws. */
    RuntimeError: new (message?: string) => Error;
  };
};
