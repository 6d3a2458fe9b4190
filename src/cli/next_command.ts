/** What to type after the verdict, as it stands, for a POSIX shell. */

import { mergeCommandLine, quoted } from '../merge/commands.js';
import type { Diagnosis } from '../merge/diagnosis.js';
import { bytesText } from '../merge/drawing.js';
import type { RunOptions } from '../merge/study.js';
import { columns, printable } from './text.js';

export interface NextCommand {
  /** Its words quoted. */
  readonly command: string;
  /** What it will write, where that is known. */
  readonly about?: string;
}

/** After `inspect`: the trace of what the verdict points at, of the same run. */
export function mergeNext(
  { suggestion }: Pick<Diagnosis, 'suggestion'>,
  inputs: readonly string[],
  { run, redact }: RunOptions = {},
): NextCommand {
  if (suggestion)
    return { command: suggestion.command, about: `(about ${bytesText(suggestion.size.bytes)})` };
  return {
    command: mergeCommandLine(redact ? { inputs: ['DIR'], request: {} } : { inputs, run, request: {} }),
  };
}

/** After `merge`. */
export const openNext = (output: string): NextCommand => ({
  command: `nccl-trace open ${output === '-' ? 'FILE' : quoted(output)}`,
});

/** Lines of `most` columns, as far as its words are no longer: they go on after a backslash. */
export function commandLines(title: string, { command, about }: NextCommand, most: number): string[] {
  const lines: string[] = [];
  let line = title;
  for (const word of printable(command).match(SHELL_WORD) ?? []) {
    if (columns(`${line} ${word} \\`) > most && line !== title && line.trim() !== '') {
      lines.push(`${line} \\`);
      line = '     ';
    }
    line += ` ${word}`;
  }
  const end = about === undefined ? '' : `   ${about}`;
  return [...lines, columns(line + end) <= most ? line + end : line];
}

/** As `quoted` makes them. */
const SHELL_WORD = /(?:'[^']*'|\\'|[^\s'])+/g;
