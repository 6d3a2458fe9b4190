/**
 * A first look at the transfers. It gives a start that is exact to a second, so that wall clocks do not affect relative times. It also
 * shows which networks refuse sends until the receiver is ready.
 */

import { entryOf } from '../../base/grouped.js';
import { toLocal, type ClockAxes } from '../domains.js';
import { distanceByCollectives, type SeenCollective } from './collective_evidence.js';
import { pairOf } from './edge_collectors.js';
import { STEP_ROW } from '../../scan/step_file.js';
import { joinTransfers, type StepSource, type TransferLink } from './joined_transfers.js';

/** Whether a send was refused at least once before it had its credit. The first try is a poll, too. */
export const isWaited = (send: Float64Array): boolean => send[STEP_ROW.polls]! > 1;

/** Pairs of each connection that are read. */
const FIRST_LOOK_PAIRS = 256;

export interface FirstLook {
  /** Per domain: LocalNs + this is an axis for all. */
  readonly coarse: readonly number[];
  /** Pairs of domains (`pairOf`) for which at least one of these first transfers was refused until it had its credit. */
  readonly insisting: ReadonlySet<number>;
}

export function firstLook(
  sources: readonly StepSource[],
  links: readonly TransferLink[],
  collectives: () => readonly SeenCollective[],
  axes: ClockAxes,
): FirstLook {
  const seen = new Map<number, SeenDelays>();
  const insisting = new Set<number>();
  const see = (from: number, to: number, delay: number): void => {
    entryOf(seen, pairOf(from, to), () => ({ from, to, delays: [] })).delays.push(delay);
  };
  joinTransfers(
    sources,
    links,
    ({ sender, receiver }, send, receive, agreement) => {
      if (agreement !== 'agree') return;
      const from = axes.domainOf[sender]!;
      const to = axes.domainOf[receiver]!;
      const at = (file: number, tick: number): number => toLocal(axes.scales[file]!, tick);
      see(from, to, at(receiver, receive[STEP_ROW.seen]!) - at(sender, send[STEP_ROW.before]!));
      if (isWaited(send)) insisting.add(pairOf(from, to));
    },
    FIRST_LOOK_PAIRS,
  );
  return { coarse: coarseOffsets([...seen.values()], collectives, axes), insisting };
}

/** From one domain to another, by their own clocks. */
interface SeenDelays {
  readonly from: number;
  readonly to: number;
  readonly delays: number[];
}

/**
 * The least delay. A delay that is seconds shorter than a quarter of the others does not count. It comes from an impossible stamp, and
 * would put the two hosts hours apart.
 */
function leastDelay(delays: readonly number[]): number {
  const rising = Float64Array.from(delays).sort();
  const others = Math.max(1, rising.length >> 2);
  return rising.find((delay, i) => rising[i + others]! - delay < SECONDS) ?? rising[0]!;
}

const SECONDS = 10e9;

/** Domains that no transfer connects to the first one keep the distance that collectives show, else the distance of their wall clocks. */
function coarseOffsets(
  seen: readonly SeenDelays[],
  collectives: () => readonly SeenCollective[],
  axes: ClockAxes,
): number[] {
  const neighbours: { domain: number; ahead: number }[][] = axes.names.map(() => []);
  for (const { from, to, delays } of seen) {
    const delay = leastDelay(delays);
    neighbours[from]!.push({ domain: to, ahead: delay });
    neighbours[to]!.push({ domain: from, ahead: -delay });
  }
  const offsets: number[] = [];
  axes.coarse.forEach((coarse, start) => {
    if (offsets[start] !== undefined) return;
    const connected = new Map([[start, 0]]);
    for (const [domain, offset] of connected) {
      for (const { domain: next, ahead } of neighbours[domain]!)
        if (!connected.has(next)) connected.set(next, offset - ahead);
    }
    const distance =
      start === 0
        ? null
        : distanceByCollectives(
            collectives(),
            (domain) => offsets[domain],
            (domain) => connected.get(domain),
          );
    for (const [domain, offset] of connected)
      offsets[domain] = offset + (distance ?? coarse - axes.coarse[0]!);
  });
  return offsets;
}
