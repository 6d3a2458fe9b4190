/** `--fail-on`: lets a script act on the verdict by the exit code alone. */

import { InvalidArgumentError, type Command } from 'commander';
import { hint } from '../base/nearest.js';
import { verdictKinds, type Judged } from '../report/verdict_kinds.js';
import { ExitCode } from './exit.js';

/** The worst first. */
const KINDS = ['hung', 'broken', 'mismatch', 'slow', 'unclear'] as const;
type FailOn = readonly (typeof KINDS)[number][];

export interface FailOnFlag {
  readonly failOn?: FailOn;
}

export const addFailOn = (command: Command): Command =>
  command.option('--fail-on <list>', `exit with 5 at ${KINDS.join(',')}`, kinds);

function kinds(text: string): FailOn {
  return text.split(',').map((name) => {
    const kind = KINDS.find((one) => one === name.toLowerCase());
    if (kind === undefined)
      throw new InvalidArgumentError(`must be of ${KINDS.join(',')}.${hint(name, KINDS)}`);
    return kind;
  });
}

/** For a sort: the smaller, the worse. */
export function badness(judged: Judged): number {
  const kinds = verdictKinds(judged);
  const place = KINDS.findIndex((kind) => kinds.includes(kind));
  return place < 0 ? KINDS.length : place;
}

/** The verdict's exit code if the user asked for one, or else `otherwise`. */
export const exitFor = (
  judged: Judged,
  { failOn = [] }: FailOnFlag,
  otherwise: ExitCode = ExitCode.ok,
): ExitCode =>
  verdictKinds(judged).some((kind) => failOn.some((one) => one === kind)) ? ExitCode.verdict : otherwise;
