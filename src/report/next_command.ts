/** The command to type after the verdict, for a POSIX shell. */

import { asArgument, inspectCommandLine, mergeCommandLine, quoted } from '../trace/commands.js';
import type { VerdictReport } from './diagnosed.js';
import { bytesText } from '../trace/drawing.js';
import type { RunOptions } from '../runs/find_runs.js';
import type { VerdictOptions } from '../verdict/facts/run_verdict.js';
import { columns, printable } from './text.js';

export interface NextCommand {
  /** With quoted arguments. */
  readonly command: string;
  /** What it writes, or what it is for. It stands before the command, so that the rest of the line is the command. */
  readonly about?: string;
}

export type Asked = RunOptions & VerdictOptions;

/**
 * After `inspect`: look again if a live job may go on, or else draw the trace of the place that the verdict names.
 */
export function inspectNext(
  found: Pick<VerdictReport, 'verdict' | 'suggestion'>,
  inputs: readonly string[],
  asked: Asked,
): NextCommand[] {
  const { verdict } = found;
  if (verdict.kind === 'waiting' && verdict.waiting.isLive)
    return [{ command: inspectCommandLine(about(inputs, asked)), about: 'look again' }];
  return [mergeNext(found, inputs, asked)];
}

/** Draws the trace of the place that the verdict names, in the same run. */
export function mergeNext(
  { suggestion }: Pick<VerdictReport, 'suggestion'>,
  inputs: readonly string[],
  asked: Asked = {},
): NextCommand {
  if (suggestion) return { command: suggestion.command, about: `about ${bytesText(suggestion.size.bytes)}` };
  return { command: mergeCommandLine({ ...about(inputs, asked), request: {} }) };
}

/** With `--redact` commands contain no names. People can read them, but not run them. */
const about = (inputs: readonly string[], { run, redact, hungAfter }: Asked) =>
  redact ? { inputs: ['DIR'], redact, hungAfter } : { inputs, run, hungAfter };

/** After `merge`. */
export const openNext = (output: string): NextCommand => ({
  command: `nccl-trace open ${output === '-' ? 'FILE' : quoted(asArgument(output))}`,
});

/** Lines of `most` columns unless a word is longer. They continue after a backslash. */
export function commandLines(name: string, { command, about }: NextCommand, most: number): string[] {
  const lines: string[] = [];
  const short = `${name}:`;
  const long = about === undefined ? short : `${name} (${about}):`;
  // A command in one line is worth more than what is said about it.
  const fits = (title: string): boolean => columns(`${title} ${printable(command)}`) <= most;
  const title = fits(short) && !fits(long) ? short : long;
  let line = title;
  const words = printable(command).match(SHELL_WORD) ?? [];
  words.forEach((word, i) => {
    const isLast = i === words.length - 1;
    if (columns(`${line} ${word}${isLast ? '' : ' \\'}`) > most && line !== title && line.trim() !== '') {
      lines.push(`${line} \\`);
      line = '     ';
    }
    line += ` ${word}`;
  });
  return [...lines, line];
}

/** A word as `quoted` writes it. */
const SHELL_WORD = /(?:'[^']*'|\\'|[^\s'])+/g;
