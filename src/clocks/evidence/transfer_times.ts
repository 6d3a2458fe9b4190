/**
 * How long transfers took across ranks, by connection and size. The time begins when both ends were ready: after the sender's last poll of
 * state 20, and after the receive was posted. It ends with the arrival (state 11). Only for protocols in which state 11 means arrival. The
 * times are as exact as the two clocks.
 */

import { entryOf } from '../../base/grouped.js';
import { countOf, countTime, noTimes, quantileOf } from '../../base/time_bins.js';
import type { ConnectionName } from '../../model/identity.js';
import { STEP_ROW } from '../../scan/step_file.js';
import type { TransferLink } from './joined_transfers.js';

export interface TransferTimes extends ConnectionName {
  /** Files of the sender and of the receiver. */
  readonly file: number;
  readonly peerFile: number;
  readonly sizes: readonly SizeOnTheWay[];
}

/** ns. The scan keeps a share of a long run's transfers; `sends`: how many of this size were timed. */
export interface SizeOnTheWay {
  readonly bytes: number;
  readonly sends: number;
  readonly sum: number;
  readonly least: number;
  /** Half of the sends took longer than the median, and nine of ten took longer than the quick time. */
  readonly medianNs: number;
  readonly quickNs: number;
}

/** Per connection; transfers of further sizes are left out. */
const MOST_SIZES = 16;

interface Times {
  readonly counts: Uint32Array;
  sum: number;
  least: number;
}

export class TransferTimer {
  private readonly links = new Map<TransferLink, Map<number, Times>>();

  /** Rows of both ends, and their times on the trace's axis. */
  add(link: TransferLink, send: Float64Array, receive: Float64Array, ready: number, arrived: number): void {
    if (receive[STEP_ROW.arrives] !== 1) return;
    const sizes = entryOf(this.links, link, () => new Map<number, Times>());
    const bytes = send[STEP_ROW.bytes]!;
    if (!sizes.has(bytes) && sizes.size >= MOST_SIZES) return;
    const times = entryOf(sizes, bytes, () => ({ counts: noTimes(), sum: 0, least: Infinity }));
    const took = Math.max(0, arrived - ready);
    countTime(times.counts, took);
    times.sum += took;
    times.least = Math.min(times.least, took);
  }

  finish(): TransferTimes[] {
    return [...this.links].map(([{ sender: file, receiver: peerFile, sends }, sizes]) => {
      const { commId, channel, source, destination } = sends;
      return {
        ...{ file, peerFile, commId, channel, source, destination },
        sizes: [...sizes].map(([bytes, { counts, sum, least }]) => ({
          ...{ bytes, sends: countOf(counts), sum, least },
          medianNs: quantileOf(counts, 0.5),
          quickNs: quantileOf(counts, 0.1),
        })),
      };
    });
  }
}
