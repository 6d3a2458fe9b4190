/** What PyTorch's dumps add to a verdict, as plain data: the dumps' own verdict, and the stuck collective with its Python stacks. */

import type { Hang } from '../verdict/types.js';
import type { Dump } from './dump.js';
import { readDumps, type FoundDumps } from './dump_files.js';
import { judgeJobs, type DumpVerdict } from './dump_verdict.js';
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
  const { jobs } = found;
  const matches = ours?.hang ? jobs.flatMap(({ dumps }) => matchDumps(ours.hang!, ours, dumps) ?? []) : [];
  return {
    files: jobs.flatMap(({ dumps }) => dumps.map(({ rank, path, version }) => ({ rank, path, version }))),
    verdict: judgeJobs(found),
    matched: matches[0] ?? null,
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
function redactDumps({ jobs, kinds, reasons, problems }: FoundDumps): FoundDumps {
  const all = jobs.flatMap(({ dumps, second }) => [...dumps, ...second]);
  const names = [...new Set(all.flatMap(({ groups }) => groups.map(({ name }) => name)))];
  const aliasOf = new Map(names.map((name, i) => [name, `group-${i + 1}`]));
  const shown = (name: string) => ({ name: aliasOf.get(name) ?? 'group', description: '' });
  for (const kind of kinds)
    Object.assign(kind, { group: shown(kind.group).name, description: '', frames: [] });
  const hidden = (dump: Dump): Dump => ({
    ...dump,
    path: `dump-${all.indexOf(dump) + 1}`,
    groups: dump.groups.map((group) => ({ ...group, ...shown(group.name) })),
    left: dump.left.map(({ call, ...one }) => ({
      ...{ ...one, ...shown(one.name) },
      call: { ...call, group: shown(call.group).name, description: '', frames: [] },
    })),
  });
  return {
    jobs: jobs.map((job) => ({ ...job, dumps: job.dumps.map(hidden), second: job.second.map(hidden) })),
    kinds,
    reasons: reasons.map(({ rank }) => ({ rank, reason: 'not shown' })),
    problems: problems.map(() => 'a file beside the dumps is not read'),
  };
}
