/**
 * Evidence about two clocks: a stamp taken *before the cause* on one and a stamp taken *after the effect* on the other. The pairs of two
 * domains are kept as a summary that does not grow with the run: windows of time, each with the lower hull of (time, delay) of its pairs.
 * When windows run out, neighbours are joined and windows become twice as wide. Times are ns on the common coarse axis (a domain's LocalNs
 * plus one constant per domain). The time is the cause's. A delay is the effect's stamp minus the cause's: the true delay plus the
 * difference of the clocks.
 */

import { HullCollector } from './lower_hull.js';

export type EvidenceKind =
  /** Sender's last look at its data before the send → the receiver has the data. */
  | 'data'
  /** Receiver makes room → sender may send. */
  | 'credit'
  /** A rank enters a collective → another leaves it. */
  | 'collective'
  /** Beacon packets. */
  | 'beacon';

/** Likeness of credits for which the sender was seen to wait. The least delayed of them were noticed almost when they came. */
export const WAITED_CREDIT = 'credit, waited for';

/**
 * Whether least delays are those of a wire and of polling programs, and so similar on all such links. For other credits and for collectives
 * it is not known how late the effect is noticed.
 */
export const isWire = ({ kind, like }: Pick<EdgeEvidence, 'kind' | 'like'>): boolean =>
  kind === 'data' || kind === 'beacon' || like === WAITED_CREDIT;

/** Prefix of the likenesses of receives that NCCL may report as arrived too early. */
export const EARLY_ARRIVAL = 'data, low latency,';

/**
 * Whether the effect surely comes after the cause. Not for a receive that may be reported early, and not for credits if the network may
 * take a send before the receiver is ready (unless it was seen to turn senders of the link away until then). Such pairs count while they
 * contradict nothing, but no hard bound uses them.
 */
export const isCertain = ({
  kind,
  like,
  insists,
}: Pick<EdgeEvidence, 'kind' | 'like' | 'insists'>): boolean =>
  (kind !== 'credit' || like === WAITED_CREDIT || insists === true) && !like.startsWith(EARLY_ARRIVAL);

/** Pairs of one window of time. */
export interface EvidenceWindow {
  /** Covers [index * width, (index + 1) * width) of the coarse axis. */
  readonly index: number;
  readonly pairs: number;
  /** Lower hull: time, delay, time, delay, ... */
  readonly hull: readonly number[];
}

/** All pairs from one domain to another of one kind and likeness. Plain data: it travels between threads. */
export interface EdgeEvidence {
  readonly from: number;
  readonly to: number;
  readonly kind: EvidenceKind;
  /** The domains, where `from` or `to` is what one of them was before or after its counter jumped: the wire is the same. */
  readonly wire?: { readonly from: number; readonly to: number };
  /** Edges of the same name are taken to have like minimum delays: transport and size class. */
  readonly like: string;
  /** Credits: the network was seen to turn senders of this link away until the receiver was ready. Absent or false: it was not. */
  readonly insists?: boolean;
  readonly pairs: number;
  /** Least size of its messages, bytes; absent: not known. Minima are those of the smallest messages. */
  readonly leastBytes?: number;
  readonly windowNs: number;
  /** By rising index; empty ones are left out. */
  readonly windows: readonly EvidenceWindow[];
}

export const wireOf = ({ from, to, wire }: EdgeEvidence): { readonly from: number; readonly to: number } =>
  wire ?? { from, to };

/** The narrowest windows, ns. Wider ones are these, doubled: all borders of all edges lie on one grid. */
export const NARROWEST_WINDOW_NS = 62.5e6;

/**
 * Upper ends of the size classes, bytes on the wire. Within a class the size hardly matters beside the rest of a delay: for large messages it is
 * most of the delay, so their classes are narrow.
 */
const SIZE_CLASSES = [8 << 10, 64 << 10, ...Array.from({ length: 16 }, (_, i) => classEnd(i + 1))];

/** Size classes: half octaves beyond 64 KiB, in whole KiB. */
function classEnd(halves: number): number {
  return Math.round(64 * 2 ** (halves / 2)) << 10;
}

export function sizeClass(bytes: number): string {
  const limit = SIZE_CLASSES.find((candidate) => bytes <= candidate);
  return limit === undefined ? 'larger' : `up to ${limit >> 10} KiB`;
}

/** Likenesses of one kind from the largest size to the smallest, whose delay is the least. */
export function compareLikes(a: string, b: string): number {
  const kind = (like: string): string => like.replace(SIZE, '');
  if (kind(a) !== kind(b)) return kind(a) < kind(b) ? -1 : 1;
  const [left, right] = [sizeOf(a), sizeOf(b)];
  return left === right ? 0 : right > left ? 1 : -1;
}

/** As `sizeClass` names them. */
const SIZE = / (?:larger|up to (\d+) KiB)$/;
const sizeOf = (like: string): number => Number(SIZE.exec(like)?.[1] ?? Infinity);

/** Collects the pairs of one edge. Any order; memory is bounded by `maxWindows` hulls. */
export class EdgeCollector {
  private windows = new Map<number, { pairs: number; hull: HullCollector }>();
  private width = NARROWEST_WINDOW_NS;
  private pairs = 0;
  private leastBytes = Infinity;

  constructor(
    private readonly edge: Pick<EdgeEvidence, 'from' | 'to' | 'kind' | 'like' | 'insists'>,
    private readonly maxWindows = 512,
  ) {}

  add(time: number, delay: number, bytes = Infinity): void {
    this.pairs++;
    if (bytes < this.leastBytes) this.leastBytes = bytes;
    const index = Math.floor(time / this.width);
    let window = this.windows.get(index);
    if (!window) {
      window = { pairs: 0, hull: new HullCollector() };
      this.windows.set(index, window);
    }
    window.pairs++;
    window.hull.add(time, delay);
    while (this.windows.size > this.maxWindows) this.widen();
  }

  finish(): EdgeEvidence {
    const windows = [...this.windows]
      .sort(([a], [b]) => a - b)
      .map(([index, { pairs, hull }]) => ({ index, pairs, hull: [...hull.hull()] }));
    const size = this.leastBytes === Infinity ? {} : { leastBytes: this.leastBytes };
    return { ...this.edge, ...size, pairs: this.pairs, windowNs: this.width, windows };
  }

  private widen(): void {
    this.width *= 2;
    const wider = new Map<number, { pairs: number; hull: HullCollector }>();
    for (const [index, window] of this.windows) {
      const to = wider.get(Math.floor(index / 2));
      if (!to) {
        wider.set(Math.floor(index / 2), window);
        continue;
      }
      to.pairs += window.pairs;
      to.hull.addAll(window.hull.hull());
    }
    this.windows = wider;
  }
}
