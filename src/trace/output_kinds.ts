/** The kinds of files that nccl-trace writes. Each is recognised by the fixed begin of its files. */

import { closeSync, openSync, readSync } from 'node:fs';
import type { OutputKind } from '../output/allowed.js';
import { traceFacts } from './trace_facts.js';

/** The attributes at its beginning, plain or compressed. */
export const TRACE: OutputKind = {
  name: 'a trace',
  option: '-o run.pftrace',
  wrote: (path) => traceFacts(path) !== null,
};

/** As JSON.stringify writes it; a test compares it with the real output. */
const SUMMARY_START = '{\n  "version": 3,\n  "verdict": {\n';

export const SUMMARY: OutputKind = {
  name: 'a summary',
  option: '--summary run.json',
  wrote: (path) => startOf(path, SUMMARY_START.length) === SUMMARY_START,
};

export const OUTPUT_KINDS: readonly OutputKind[] = [TRACE, SUMMARY];

function startOf(path: string, bytes: number): string {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(bytes);
    return start.toString('latin1', 0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}
