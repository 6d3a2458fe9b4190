/**
 * Lanes for overlapping slices: Perfetto silently corrupts overlaps on one track, so each lane is a track and holds one slice at a time.
 * The lowest free lane is taken.
 */

export class LaneNumbers {
  private readonly busy: boolean[] = [];

  acquire(): number {
    const free = this.busy.indexOf(false);
    const lane = free < 0 ? this.busy.length : free;
    this.busy[lane] = true;
    return lane;
  }

  release(lane: number): void {
    this.busy[lane] = false;
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
