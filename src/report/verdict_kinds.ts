/** What a verdict counts as for a script that acts on it (docs/exit-codes.md). */

import type { FlightReport } from '../pytorch/flight_report.js';
import { stallOf } from '../verdict/facts/suspects.js';
import type { VerdictKind } from '../verdict/types.js';

export interface Judged {
  /** null: there are no rank files. */
  readonly verdict: VerdictKind | null;
  readonly flightRecorder: FlightReport | null;
}

/** What rank files say and what dumps say, each under its name. A call that waits in dumps, for a reason that they do not show, is unclear. */
export function verdictKinds({ verdict, flightRecorder }: Judged): string[] {
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
