/** The rank that all others waited for most, if it is always the same one and cost enough to be worth a word. */

import type { ClusterComm, Collective } from '../cluster/types.js';
import { hex64 } from '../base/hex.js';
import type { Evidence } from './judge.js';
import type { Slowness } from './types.js';

/** Fewer collectives tell nothing of a habit. */
const FEWEST = 4;
/** A rank is slow when all others waited for it alone for this share of the time, and the more the fewer were seen, */
const shareOf = (collectives: number): number => 0.05 + 1.5 / collectives;
/** when most of what they waited for anyone's last steps was for it, */
const MOST_OF_WAITING = 0.5;
/** and when it came last more often than not. */
const MOST_OF_COLLECTIVES = 0.5;

interface Wait {
  readonly from: number;
  readonly to: number;
}

export function slowest({ comms, comparable }: Evidence): Slowness | null {
  const candidates = comms.filter(({ files }) => comparable(files)).flatMap((comm) => latenessIn(comm) ?? []);
  return candidates.reduce<Slowness | null>((a, b) => (a === null || b.cost > a.cost ? b : a), null);
}

function latenessIn({ name, collectives, nRanks, commId }: ClusterComm): Slowness | null {
  // Before the first one the ranks start up and connect, each in its own time.
  const whole = collectives.filter((one) => isWhole(one, nRanks)).slice(1);
  if (whole.length < FEWEST) return null;
  const byFile = new Map<number, Wait[]>();
  for (const { lastFile, lastArrival, lastButOneArrival } of whole)
    byFile.set(lastFile, [...(byFile.get(lastFile) ?? []), { from: lastButOneArrival, to: lastArrival }]);
  const latecomers = [...byFile].map(([file, waits]) => ({ file, late: waits.length, cost: inAll(waits) }));
  const total = latecomers.reduce((sum, one) => sum + one.cost, 0);
  const { file, late, cost } = latecomers.reduce((a, b) => (b.cost > a.cost ? b : a));
  const span = whole.at(-1)!.end! - whole[0]!.firstArrival;
  const isSlow =
    cost >= shareOf(whole.length) * span &&
    cost > MOST_OF_WAITING * total &&
    late > MOST_OF_COLLECTIVES * whole.length;
  return isSlow
    ? { comm: name, commId: hex64(commId), nRanks, file, late, of: whole.length, cost, span }
    : null;
}

/** ns. Collectives that were enqueued together are waited for at the same time: that time counts once. */
function inAll(waits: readonly Wait[]): number {
  let sum = 0;
  let reached = -Infinity;
  for (const { from, to } of [...waits].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return sum;
}

const isWhole = ({ arrived, end, open, aborted }: Collective, nRanks: number): boolean =>
  arrived === nRanks && arrived > 1 && end !== null && open.length === 0 && aborted.length === 0;
