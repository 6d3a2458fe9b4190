/** The verdict on a run with all that gives it a meaning, as plain data. */

import type { Cause } from '../analysis/causes.js';
import type { RasReport } from '../foreign/ras_beside.js';
import type { DumpVerdict } from '../pytorch/dump_verdict.js';
import type { FlightReport } from '../pytorch/flight_report.js';
import type { DumpFinding } from '../pytorch/rules.js';
import type { RunCommunicator } from '../runs/communicators.js';
import type { OtherRun } from '../runs/run.js';
import type { SizedCommand } from '../trace/drawing.js';
import type { Finding, Verdict } from '../verdict/types.js';
import type { ClockReport, TrafficReport } from './clock_report.js';
import type { DiagnosedRank } from './rank_report.js';

/** With the sentence that says it. */
export type Told<One> = One & { readonly says: string };

export interface Diagnosis {
  readonly verdict: Verdict<Told<Finding>>;
  /** ns since the Unix epoch, decimal. */
  readonly traceStart: string;
  readonly worldSize: number;
  readonly missingRanks: readonly number[];
  /** Files that cannot be used, and why: sentences that begin with the file. They are among `problems`, too. */
  readonly unusable: readonly string[];
  /** Other runs beside this one, the newest first. */
  readonly otherRuns: readonly OtherRun[];
  /** The meaning of the verdict's file numbers. */
  readonly ranks: readonly DiagnosedRank[];
  readonly communicators: readonly RunCommunicator[];
  readonly clocks: readonly ClockReport[];
  readonly traffic: TrafficReport | null;
  /** What to draw next; null: the verdict points nowhere. */
  readonly suggestion: SizedCommand | null;
  /** Why the run is slow. */
  readonly causes: readonly Told<Cause>[];
  /** What PyTorch's dumps show of this run. null: none were given. */
  readonly flightRecorder: ToldFlight | null;
  /** What NCCL's RAS says of it. Absent: it was not asked. */
  readonly ras?: RasReport | undefined;
  /** Unusable or omitted files, in whole sentences. */
  readonly problems: readonly string[];
}

export interface ToldFlight extends FlightReport {
  readonly verdict: DumpVerdict<Told<DumpFinding>>;
}

/** The report without its problems, before its findings are told. It gives file numbers and trace times a meaning. */
export interface VerdictReport extends Omit<Diagnosis, 'problems' | 'verdict' | 'flightRecorder'> {
  readonly verdict: Verdict;
  readonly flightRecorder: FlightReport | null;
}
