/** The causes of slowness as plain data, each with its evidence, and the data from which they are found. */

import type { AllToAll, Most } from './all_to_all.js';
import type { CollectiveRow } from './collectives.js';
import type { RankLabel } from './rank_labels.js';
import type { SlowLinkRow } from './slow_link_rows.js';
import type { LinkRow } from './link_rows.js';
import type { RankWaits } from './rank_waits.js';
import type { WaitRow } from './wait_rows.js';

/** `view`: a stretch of the trace that shows the cause, ns. `costNs`: it cost the run at least this; null: not known. */
interface Shown {
  readonly view: readonly [from: number, to: number];
  readonly costNs: number | null;
}

export interface SlowerSince extends Shown {
  readonly cause: 'slower since';
  readonly sinceNs: number;
  /** Factor: the time of collectives since then, divided by their time before. */
  readonly factor: number;
  readonly before: number;
  readonly after: number;
  /** Kinds (communicator, function, size class) whose median rose, of those seen before and after. */
  readonly slowerKinds: number;
  readonly kinds: number;
}

export interface SlowLinks extends Shown {
  readonly cause: 'slow link' | 'thin channel' | 'slow NIC' | 'slow node';
  /** The rank that all of them have in common; null: a node, or none. */
  readonly rank: RankLabel;
  readonly host: string | null;
  /** Sender and receiver of the first of them. */
  readonly ends: readonly [RankLabel, RankLabel];
  /** Indices into the links. */
  readonly links: readonly number[];
  /** Slow pairs of ranks, of all pairs with this rank or node as an end. */
  readonly slowPairs: number;
  readonly pairs: number;
  /** The times of the costliest link, compared with the usual ones. */
  readonly ratio: number;
  readonly by: SlowLinkRow['by'];
  readonly transfers: number;
  /** The channel that is thin; null: the cause is not about one channel. */
  readonly channel: number | null;
  /** Causes that cannot be distinguished, because the sender has only one link, or receives nothing that would show its proxy thread. */
  readonly cannotTell: 'link or NIC' | 'NIC or proxy thread' | 'link, NIC or proxy thread' | null;
}

/** With each transfer. */
export interface LongWait extends Shown {
  readonly rank: RankLabel;
  /** ns per transfer: its own wait, and the median of all ranks. */
  readonly waitNs: number;
  readonly usualNs: number;
  readonly transfers: number;
  /** Ranks that it was compared with. */
  readonly like: number;
}

/** Received data waits long until the rank's proxy thread looks again. Neither a wire nor a GPU is in between. */
export interface StarvedThread extends LongWait {
  readonly cause: 'starved proxy thread';
}

/** Data to send waited long for the rank's GPU, although the rank did not wait for data. */
export interface SlowGpu extends LongWait {
  readonly cause: 'slow GPU';
}

/** Collectives of a kind take longer while another communicator is under way on the same ranks. */
export interface Contention extends Shown {
  readonly cause: 'contention';
  readonly comm: string;
  readonly commId: string;
  readonly func: string;
  /** The communicator that was under way most. */
  readonly with: string;
  readonly withId: string;
  readonly factor: number;
  /** Collectives under way together with another, and alone. */
  readonly together: number;
  readonly alone: number;
}

/** Collectives with another algorithm or protocol than their peers take longer. Peers have the same communicator, function and size. */
export interface UnlikePlan extends Shown {
  readonly cause: 'unlike algorithm';
  readonly comm: string;
  readonly commId: string;
  readonly func: string;
  readonly bytes: number | null;
  /** As in CollectiveRow: the plan of these collectives, and that of their peers. */
  readonly plan: string;
  readonly usual: string;
  readonly count: number;
  readonly peers: number;
  readonly factor: number;
}

/** The collectives of a communicator take much longer than those of its sisters, which have its name, its size and its calls. */
export interface SlowGroup extends Shown {
  readonly cause: 'slow group';
  readonly comm: string;
  readonly commId: string;
  readonly func: string;
  readonly bytes: number | null;
  /** ns: its median, and the median of its sisters' medians. */
  readonly tookNs: number;
  readonly usualNs: number;
  readonly count: number;
  readonly sisters: number;
}

/** A rank receives or sends far more than the others where sends and receives among all ranks make an AlltoAll. */
export interface UnevenAllToAll extends Shown, Most {
  readonly cause: 'uneven AlltoAll';
  readonly comm: string;
  readonly commId: string;
}

export type Cause =
  SlowerSince | SlowLinks | StarvedThread | SlowGpu | Contention | UnlikePlan | SlowGroup | UnevenAllToAll;

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
