/** What PyTorch's dumps add to a verdict, as plain data: the dumps' own verdict, and the stuck collective with its Python stacks. */

import type { Hang } from '../verdict/types.js';
import type { Dump, DumpedCall, ProcessGroup } from './dump.js';
import { readDumps, type FoundDumps } from './dump_files.js';
import { judgeDumps, type DumpVerdict } from './dump_verdict.js';
import { matchDumps, type MatchedCollective, type OurRun } from './matching_call.js';

export interface FlightReport {
  readonly files: readonly { readonly rank: number; readonly path: string; readonly version: string }[];
  readonly verdict: DumpVerdict;
  /** The collective that our own verdict calls stuck; null: it names none, or no group of the dumps fits. */
  readonly matched: MatchedCollective | null;
}

export function flightReport(
  found: Omit<FoundDumps, 'problems'>,
  ours: (OurRun & { readonly hang: Hang | null }) | null,
): FlightReport {
  const { dumps } = found;
  return {
    files: dumps.map(({ rank, path, version }) => ({ rank, path, version })),
    verdict: judgeDumps(found),
    matched: ours?.hang ? matchDumps(ours.hang, ours, dumps) : null,
  };
}

export interface FlightOptions {
  /** Folder of dumps of PyTorch's Flight Recorder. */
  readonly flightRecorder?: string | undefined;
  readonly redact?: boolean | undefined;
}

/** null: not asked for. Throws UsageError. */
export function dumpsFor({ flightRecorder, redact }: FlightOptions): FoundDumps | null {
  if (flightRecorder === undefined) return null;
  const found = readDumps(flightRecorder);
  return redact ? redactDumps(found) : found;
}

/** The dumps without the user's names of groups, files and functions. Numbers, types and PyTorch's own words stay. */
function redactDumps({ dumps, leftOut, reasons, problems }: FoundDumps): FoundDumps {
  const names = [...new Set(dumps.flatMap(({ groups }) => groups.map(({ name }) => name)))];
  const aliasOf = new Map(names.map((name, i) => [name, `group-${i + 1}`]));
  const shown = (name: string): string => aliasOf.get(name) ?? 'group';
  const redacted = (call: DumpedCall): DumpedCall => ({
    ...call,
    ...{ group: shown(call.group), description: '', frames: [] },
  });
  const hidden = <Group extends ProcessGroup>(group: Group): Group => ({
    ...group,
    ...{ name: shown(group.name), description: '' },
  });
  return {
    dumps: dumps.map((dump, i): Dump => ({
      ...dump,
      path: `dump-${i + 1}`,
      groups: dump.groups.map(hidden),
      calls: dump.calls.map(redacted),
      left: dump.left.map((one) => ({ ...hidden(one), call: redacted(one.call) })),
    })),
    leftOut: leftOut.map((one, i) => ({ ...one, path: `dump-${dumps.length + i + 1}` })),
    reasons: reasons.map(({ rank }) => ({ rank, reason: 'not shown' })),
    problems: problems.map(() => 'a file beside the dumps is not read'),
  };
}
