/**
 * From what the causes of slowness are found. A cause is plain data: `cause` (what it is), `says` (what happened, the evidence and what is not
 * known, as one sentence), `costNs` (it cost the run at least this; null: not known), `view` (a stretch of the trace that shows it, ns), and
 * the numbers of its evidence (schemas/report.md).
 */

import { durationText } from '../base/duration.js';
import { printable } from '../base/printable.js';
import { binarySize } from '../base/units.js';
import { nameOrId } from '../runs/communicators.js';
import type { AllToAll } from './all_to_all.js';
import type { CollectiveRow } from './collectives.js';
import type { RankLabel } from './rank_labels.js';
import type { SlowLinkRow } from './slow_link_rows.js';
import type { LinkRow } from './link_rows.js';
import type { RankWaits } from './rank_waits.js';
import type { WaitRow } from './wait_rows.js';

export interface CauseEvidence {
  readonly allToAlls: readonly AllToAll[];
  readonly collectives: readonly CollectiveRow[];
  readonly links: readonly LinkRow[];
  readonly slowLinks: readonly SlowLinkRow[];
  /** By file. */
  readonly rankWaits: readonly RankWaits[];
  readonly waits: readonly WaitRow[];
  /** The rank that the verdict calls late; null: none. */
  readonly late: RankLabel | null;
  readonly rankOf: (file: number) => RankLabel;
  readonly durationNs: number;
  /** A communicator's name without what tells it from its sisters. */
  readonly kindOf: (commId: string) => string;
  /** For sentences: the time of day of a moment of the trace. */
  readonly clockOf: (ns: number) => string;
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

export const nameOf = (of: Parameters<typeof nameOrId>[0]): string => printable(nameOrId(of));

/** The end of a sentence. */
export const costing = (costNs: number): string => `; costs at least ${durationText(costNs)}`;

export const sizeOf = ({ bytes }: { readonly bytes: number | null }): string =>
  bytes === null ? 'the same size' : binarySize(bytes);
