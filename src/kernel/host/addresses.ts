/**
 * How large a kernel's memory may become where the process's addresses are limited (`ulimit -v`, login nodes). V8 reserves all that a memory may
 * become, or as much of it as it gets: then nothing is left for the program itself, and V8 ends the process.
 */

import { readFileSync } from 'node:fs';

import { UsageError } from '../../base/errors.js';

export const PAGE = 2 ** 16;
/** What AssemblyScript's addresses can name. */
const MOST_PAGES = 65_535;

/** Pages. A quarter of the addresses that this process may still take: the rest is for the program, zstd and the kernels of other threads. */
export function pagesLeft(): number {
  const limit = softLimit();
  if (!Number.isFinite(limit)) return MOST_PAGES;
  return Math.min(MOST_PAGES, Math.max(1, Math.floor((limit - taken()) / 4 / PAGE)));
}

/** Bytes; infinite where there is none, or where the system does not tell. */
function softLimit(): number {
  const found = /^Max address space +(\d+)/m.exec(fromProc('limits'));
  return found ? Number(found[1]) : Infinity;
}

const taken = (): number => Number(/^VmSize:\s*(\d+) kB$/m.exec(fromProc('status'))?.[1] ?? 0) * 1024;

function fromProc(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Runs `make`, which reserves addresses. Throws UsageError if the system refuses them. */
export function withAddresses<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(
      'the system has no room for 10 GiB of addresses, which Node.js reserves for each thread that reads files; ' +
        'raise the limit (ulimit -v), or use Node.js 20.15, 22.2 or newer, which nccl-trace starts without this reserve',
    );
  }
}
