/**
 * Lanes for overlapping slices. Perfetto shows wrong times for slices that overlap on one track, without a message. So each lane is a track
 * and holds one slice at a time. A slice takes the lowest free lane.
 */

import { LaneNumbers } from '../../base/lane_numbers.js';

export class Lanes<Track> extends LaneNumbers {
  private readonly tracks: Track[] = [];

  /** `describe` makes a lane's track at its first use. */
  constructor(private readonly describe: (lane: number) => Track) {
    super();
  }

  track(lane: number): Track {
    this.tracks[lane] ??= this.describe(lane);
    return this.tracks[lane];
  }
}

/** "collectives", "collectives ·2", ... */
export function laneName(name: string, lane: number): string {
  return lane === 0 ? name : `${name} ·${lane + 1}`;
}
