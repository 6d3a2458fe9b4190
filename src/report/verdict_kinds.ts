/** What a verdict counts as for a script that acts on it (docs/exit-codes.md). */

import type { FlightReport } from '../pytorch/flight_report.js';
import { besides, stallOf } from '../verdict/facts/suspects.js';
import type { Verdict } from '../verdict/types.js';

export interface Judged {
  /** null: there are no rank files. */
  readonly verdict: Verdict | null;
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

/** Different calls may be the reason of a stall, or stand beside what is else the matter. */
const kindsOf = (verdict: Verdict): string[] => [
  verdict.kind,
  ...(stallOf(verdict)?.mismatch ? ['mismatch'] : []),
  ...(verdict.kind === 'mismatch' ? [besides(verdict)?.kind ?? 'healthy'] : []),
];
