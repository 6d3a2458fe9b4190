/** The kernel's exports, in AssemblyScript. See src/README.md. */

export { checkIndex } from './checks';

/** Raised when `host/` and the kernel must change together. */
export function interfaceVersion(): i32 {
  return 1;
}
