/**
 * Lanes for overlapping slices: Perfetto silently corrupts overlaps on one track, so each lane is a track and holds one slice at a time.
 * The lowest free lane is taken.
 */

/** The lowest lane that is free at `at`, or a new one. `freeAt`: by lane. */
export function freeLane(freeAt: readonly number[], at: number): number {
  let lane = 0;
  while (lane < freeAt.length && !(freeAt[lane]! <= at)) lane++;
  return lane;
}

export class LaneNumbers {
  /** When it was released; Infinity: it is busy. */
  private readonly freeAt: number[] = [];

  /** `at`: its begin, where slices do not come in order of time: it takes no lane that was released later. */
  acquire(at = Number.MAX_VALUE): number {
    const lane = freeLane(this.freeAt, at);
    this.freeAt[lane] = Infinity;
    return lane;
  }

  release(lane: number, at = 0): void {
    this.freeAt[lane] = at;
  }
}

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
