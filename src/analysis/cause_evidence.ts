/**
 * From what the causes of slowness are found, and a cause itself: a finding, as those of the verdict (verdict/types.ts). `about` has the numbers of
 * its evidence (schemas/report.md) and `view`, a stretch of the trace that shows it, ns. report/cause_text.ts says it in a sentence.
 */

import type { TraceNs } from '../base/time.js';
import type { AllToAll } from './all_to_all.js';
import type { CollectiveRow } from './collectives.js';
import type { RankLabel } from '../runs/rank_labels.js';
import type { LinkFault } from '../cluster/link_faults.js';
import type { SlowGpu } from '../cluster/long_waits.js';
import type { RowOf } from './slow_link_rows.js';
import type { LinkRow } from './link_rows.js';
import { NOBODY, NOTHING_KNOWN } from '../verdict/finding.js';
import type { CallName, Finding, Who } from '../verdict/types.js';

export interface CauseEvidence {
  readonly allToAlls: readonly AllToAll[];
  readonly collectives: readonly CollectiveRow[];
  readonly links: readonly LinkRow[];
  readonly faults: readonly LinkFault[];
  readonly gpus: readonly SlowGpu[];
  readonly rowOf: RowOf;
  /** The rank that the verdict calls late; null: none. */
  readonly late: RankLabel | null;
  /** The files of a rank. */
  readonly filesOf: (rank: RankLabel) => readonly number[];
  readonly durationNs: number;
  /** A communicator's name without what tells it from its sisters. */
  readonly kindOf: (commId: string) => string;
}

/** The longest collective of a communicator, because it shows most. */
export function longestOf(collectives: readonly CollectiveRow[], commId: string | null): [number, number] {
  const ended = collectives.filter((one) => one.durationNs !== null && (commId ?? one.commId) === one.commId);
  if (ended.length === 0) return [0, 0];
  const { startNs, durationNs } = ended.reduce((a, b) => (b.durationNs! > a.durationNs! ? b : a));
  return around(startNs + durationNs! / 2, durationNs!);
}

/** A stretch of the trace. */
export const around = (at: number, length: number): [number, number] => [
  Math.max(0, Math.round(at - length)),
  Math.round(at + length),
];

type Parts = Pick<Finding, 'isSure' | 'since' | 'where' | 'connection' | 'cost' | 'who'>;
type View = readonly [from: number, to: number];

/** A cause has cost some time, and does not stand in the job's way. `parts`: those that are known. */
export const causeOf = <Rule extends string, About extends { readonly view: View }>(
  rule: Rule,
  about: About,
  parts: Partial<Parts>,
) =>
  ({
    ...{ rule, kind: 'slow' as const, stands: false, isSure: true },
    ...NOTHING_KNOWN,
    ...parts,
    about,
  }) satisfies Finding<{ rule: Rule; kind: 'slow'; time: TraceNs; who: Who; about: About }>;

/** What a cause says of them is `why`. */
export const accused = (files: readonly number[], why: string): Who =>
  files.length === 0
    ? NOBODY
    : { ...NOBODY, degree: 'this', files, some: files.map((file) => ({ file })), why };

/** The collectives that it is about. */
export const callsOf = ({
  comm,
  commId,
  func,
}: Pick<CollectiveRow, 'comm' | 'commId' | 'func'>): CallName => ({
  ...{ comm, commId, func, seq: null, replay: 0 },
});
