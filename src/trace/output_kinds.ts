/** The kinds of files that nccl-trace writes. Each is recognised by the fixed begin of its files. */

import type { OutputKind } from '../output/allowed.js';
import { beginsWith } from '../output/file_start.js';
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
  wrote: (path) => beginsWith(path, SUMMARY_START),
};

export const OUTPUT_KINDS: readonly OutputKind[] = [TRACE, SUMMARY];
