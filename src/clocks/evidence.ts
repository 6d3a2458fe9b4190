/**
 * Evidence about two clocks: a stamp taken *before the cause* on one clock, and a stamp taken *after the effect* on the other. The pairs of
 * two domains are kept as a summary that does not grow with the run. The summary has windows of time, each with the lower hull of (time,
 * delay) of its pairs. When windows run out, neighbours are joined and windows become twice as wide. Times are ns on the common coarse axis
 * (a domain's LocalNs plus one constant per domain). The time is the cause's. A delay is the effect's stamp minus the cause's: the true
 * delay plus the difference of the clocks.
 */

import { entryOf } from '../base/grouped.js';
import { HullCollector } from './lower_hull.js';

export type EvidenceKind =
  /** Sender's last look at its data before the send → the receiver has the data. */
  | 'data'
  /** Receiver makes room → sender may send. */
  | 'credit'
  /** A rank enters a collective → another leaves it. */
  | 'collective';

/** Likeness of credits for which the sender was seen to wait. The sender noticed the least delayed of them almost when they came. */
export const WAITED_CREDIT = 'credit, waited for';

/**
 * Whether the least delays come from a wire and from polling programs only. Then they are similar on all such links. For other credits and
 * for collectives it is not known how late the effect is noticed.
 */
export const isWire = ({ kind, like }: Pick<EdgeEvidence, 'kind' | 'like'>): boolean =>
  kind === 'data' || like === WAITED_CREDIT;

/** Prefix of the likenesses of receives that NCCL may report as arrived too early. */
export const EARLY_ARRIVAL = 'data, low latency,';

/**
 * Whether the effect certainly comes after the cause. This is not certain for a receive that may be reported early. It is not certain for
 * credits either, if the network may take a send before the receiver is ready. (It is certain if the network was seen to refuse sends of
 * the link until then.) Uncertain pairs count while they contradict nothing, but no hard bound uses them.
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
  /** The domains of the wire, if `from` or `to` is one part of a counter that jumped. The wire is the same for both parts. */
  readonly wire?: { readonly from: number; readonly to: number };
  /** Transport and size class. Edges of the same name are assumed to have similar minimum delays. */
  readonly like: string;
  /** Credits: the network was seen to refuse sends of this link until the receiver was ready. Absent or false: it was not seen. */
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

/** The narrowest windows, ns. Wider windows are two, four, ... of these, so the borders of all edges lie on one grid. */
export const NARROWEST_WINDOW_NS = 62.5e6;

/**
 * Upper ends of the size classes, bytes on the wire. Within a class the size must change the delay only a little. For large messages the
 * size is most of the delay, so their classes are narrow.
 */
const SIZE_CLASSES = [8 << 10, 64 << 10, ...Array.from({ length: 16 }, (_, i) => classEnd(i + 1))];

/** Size classes: half octaves beyond 64 KiB, in whole KiB. */
function classEnd(halves: number): number {
  return Math.round(64 * 2 ** (halves / 2)) << 10;
}

const SIZE_NAMES = [...SIZE_CLASSES.map((limit) => `up to ${limit >> 10} KiB`), 'larger'];

export function sizeClass(bytes: number): string {
  let size = 0;
  while (bytes > SIZE_CLASSES[size]!) size++;
  return SIZE_NAMES[size]!;
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
    const window = entryOf(this.windows, index, () => ({ pairs: 0, hull: new HullCollector() }));
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
