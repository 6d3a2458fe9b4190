/** Commands that a person can type unchanged: `nccl-trace merge DIR --ranks 36-38 --last 60s`. */

import { append } from '../base/extremes.js';
import { dirname } from 'node:path';
import type { SelectionRequest } from './selection.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { rangesText, type AskedTime } from './asked_times.js';
import type { VerdictOptions } from '../verdict/facts/run_verdict.js';

/** Options that a suggested command keeps, for any command that studies a run. */
export interface RunArgs extends ClockOptions, VerdictOptions {
  /** As the user gave them. */
  readonly inputs: readonly string[];
  /** `--run` */
  readonly run?: string | undefined;
  readonly redact?: boolean | undefined;
  /** `--flight-recorder` */
  readonly flightRecorder?: string | undefined;
}

export interface CommandArgs extends RunArgs {
  readonly output?: string | undefined;
  readonly request: SelectionRequest;
}

export function mergeCommandLine({ output, request, ...about }: CommandArgs): string {
  const args = ['nccl-trace', 'merge', ...runArgs(about)];
  for (const comm of request.comms ?? []) args.push('--comm', comm);
  if (request.ranks) args.push('--ranks', rangesText(request.ranks));
  if (request.from) args.push('--from', timeText(request.from));
  if (request.to) args.push('--to', timeText(request.to));
  if (request.around)
    args.push('--around', `${timeText(request.around.at)},${secondsText(request.around.halfNs)}`);
  if (request.last !== undefined) args.push('--last', secondsText(request.last));
  if (request.detail) args.push('--detail', request.detail);
  append(args, manner(about));
  if (output !== undefined) args.push('-o', asArgument(output));
  return args.map(quoted).join(' ');
}

/** `nccl-trace inspect`, which solves clocks in its own way. */
export const inspectCommandLine = (about: Omit<RunArgs, keyof ClockOptions>): string =>
  ['nccl-trace', 'inspect', ...runArgs(about), ...manner(about)].map(quoted).join(' ');

const runArgs = ({ inputs, run }: RunArgs): string[] => [
  ...fewInputs(inputs).map(asArgument),
  ...(run === undefined ? [] : ['--run', run]),
];

/** The given options that change what is found, ready to type. */
export const mannerText = (about: Omit<RunArgs, 'inputs'>): string =>
  [...(about.run === undefined || about.redact ? [] : ['--run', about.run]), ...manner(about)]
    .map(quoted)
    .join(' ');

function manner(about: Omit<RunArgs, 'inputs'>): string[] {
  const { clock, alike, wander, hungAfter, redact, flightRecorder } = about;
  const args: string[] = [];
  if (clock !== undefined && clock !== 'auto') args.push('--clock', clock);
  if (alike !== undefined) args.push('--clock-alike', String(alike));
  if (wander !== undefined) args.push('--clock-wander', String(wander));
  if (hungAfter !== undefined) args.push('--hung-after', String(hungAfter));
  if (redact) args.push('--redact');
  else if (flightRecorder !== undefined) args.push('--flight-recorder', asArgument(flightRecorder));
  return args;
}

/** A shell expands one `rank*.bin` to many arguments. Their directory means the same. */
function fewInputs(inputs: readonly string[]): readonly string[] {
  const [first, ...others] = inputs;
  if (first === undefined || inputs.length <= 3) return inputs;
  const folder = dirname(first);
  return others.every((path) => dirname(path) === folder) ? [folder] : inputs;
}

export function timeText(asked: AskedTime): string {
  switch (asked.kind) {
    case 'since-start':
      return secondsText(asked.ns);
    case 'utc': {
      const iso = new Date(Number(asked.ns / 1_000_000n)).toISOString().slice(0, 19);
      return `${iso}${fractionText(Number(asked.ns % 1_000_000_000n))}Z`;
    }
    case 'time-of-day': {
      const of = (unit: number, limit: number): string =>
        String(Math.floor(asked.ns / unit) % limit).padStart(2, '0');
      return `${of(3600e9, 24)}:${of(60e9, 60)}:${of(1e9, 60)}${fractionText(asked.ns % 1e9)}`;
    }
  }
}

const fractionText = (ns: number): string =>
  ns === 0 ? '' : `.${String(ns).padStart(9, '0').replace(/0+$/, '')}`;

export const secondsText = (ns: number): string => `${(ns / 1e9).toFixed(9).replace(/\.?0+$/, '')}s`;

/** For a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A path that begins with a dash would be taken for an option. */
export const asArgument = (path: string): string => (/^-./.test(path) ? `./${path}` : path);

/** "run.pftrace.gz", "full" → "run-full.pftrace.gz" */
export function besides(output: string, what: string): string {
  if (output === '-') return output;
  const match = /^(.*?)((?:\.pftrace)?(?:\.gz|\.zst)?)$/.exec(output);
  return `${match?.[1] ?? output}-${what}${match?.[2] ?? ''}`;
}
