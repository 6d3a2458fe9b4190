/** `--fail-on`: lets a script act on the verdict by the exit code alone. */

import { InvalidArgumentError, type Command } from 'commander';
import { hint } from '../base/nearest.js';
import type { FlightReport } from '../pytorch/flight_report.js';
import { stallOf } from '../verdict/evidence/suspects.js';
import type { VerdictKind } from '../verdict/types.js';
import { ExitCode } from './exit.js';

const KINDS = ['hung', 'broken', 'mismatch', 'slow', 'unclear'] as const;
type FailOn = readonly (typeof KINDS)[number][];

export interface FailOnFlag {
  readonly failOn?: FailOn;
}

export const addFailOn = (command: Command): Command =>
  command.option(
    '--fail-on <list>',
    `exit with 5 if the verdict is one of these: ${KINDS.join(',')} (docs/exit-codes.md)`,
    kinds,
  );

function kinds(text: string): FailOn {
  return text.split(',').map((name) => {
    const kind = KINDS.find((one) => one === name.toLowerCase());
    if (kind === undefined)
      throw new InvalidArgumentError(`must be of ${KINDS.join(',')}.${hint(name, KINDS)}`);
    return kind;
  });
}

interface Judged {
  /** null: there are no rank files. */
  readonly verdict: VerdictKind | null;
  readonly flightRecorder: FlightReport | null;
}

/** The verdict's exit code if the user asked for one, or else `otherwise`. */
export const exitFor = (
  judged: Judged,
  { failOn = [] }: FailOnFlag,
  otherwise: ExitCode = ExitCode.ok,
): ExitCode =>
  said(judged).some((kind) => failOn.some((one) => one === kind)) ? ExitCode.verdict : otherwise;

/** What rank files say and what dumps say, each under its name. A call that waits in dumps, for a reason that they do not show, is unclear. */
function said({ verdict, flightRecorder }: Judged): string[] {
  const ofDumps = flightRecorder?.verdict.kind;
  return [
    ...(verdict === null ? [] : kindsOf(verdict)),
    ...(ofDumps === undefined ? [] : [ofDumps === 'pending' ? 'unclear' : ofDumps]),
  ];
}

/** Different calls may be the reason of a stall, or stand beside another verdict. */
const kindsOf = (verdict: VerdictKind): string[] => [
  verdict.kind,
  ...(stallOf(verdict)?.mismatch ? ['mismatch'] : []),
  ...(verdict.kind === 'mismatch' ? kindsOf(verdict.besides) : []),
];
