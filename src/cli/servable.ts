/** Lets `open` hand only traces to a web page, not another file that was named by mistake. */

import { statSync } from 'node:fs';
import { NoUsableInput } from '../base/errors.js';
import { knownAt } from '../foreign/known_files.js';
import { SUMMARY } from '../trace/output_kinds.js';
import { isTrace } from '../trace/trace_facts.js';
import { codeOf, reason } from '../base/reason.js';
import { openRankFileHeader } from '../rankfile/index.js';

/** Throws NoUsableInput. */
export function checkServable(path: string): void {
  const found = whatIsWrong(path);
  if (found !== null) throw new NoUsableInput(`${path}: ${found}`);
}

const NAME_A_TRACE = 'name a trace written by "nccl-trace merge"';

function whatIsWrong(path: string): string | null {
  try {
    // Before opening, because opening a pipe waits for its writer.
    if (!statSync(path).isFile()) return `is not a file; ${NAME_A_TRACE}`;
    if (isTrace(path)) return null;
    if (isRankFile(path)) return 'is a rank file, not a trace; first: nccl-trace merge';
    if (SUMMARY.wrote(path)) return `is a summary, not a trace; ${NAME_A_TRACE}`;
    const known = knownAt(path);
    // Traces may be packed, so that alone says nothing. Nor does a name: a trace that is damaged has it, too.
    if (known && !/^decompress|nccl-trace open/.test(known.advice))
      return `is ${known.what}, not a trace of ours; ${known.advice}`;
    return `is not a Perfetto trace, or is damaged; ${NAME_A_TRACE}`;
  } catch (error) {
    return `${codeOf(error) === 'ENOENT' ? 'no such file' : reason(error)}; ${NAME_A_TRACE}`;
  }
}

function isRankFile(path: string): boolean {
  try {
    openRankFileHeader(path);
    return true;
  } catch {
    return false;
  }
}
