/** A connection: per channel, direction and peer the lanes of its operations, and below them the step slots. */

import { LaneNumbers } from '../lanes';
import { NCCL_STEPS } from '../numbers';
import { Sink } from './sink';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

/** As src/trace/tracks/specs.ts has them. */
export const enum Direction {
  Receive,
  Send,
  /** NCCL never reports ends here, and says isSend 0 both ways. */
  Endless,
  /** Stand-ins, of any channel and peer. */
  Lost,
}

/** A step slot. */
export class Slot {
  isBusy: bool = false;
  /** Begin of the newest phase, or of the step; when the step ended. */
  phaseAt: f64 = 0;
  /** The newest phase is a peer wait. It is drawn when it is over. */
  inPeerWait: bool = false;

  constructor(
    readonly slots: Slots,
    readonly number: i32,
    readonly track: Track,
  ) {}
}

/** A set of slot tracks: NCCL's eight, and more if steps never ended. */
export class Slots {
  private readonly slots: StaticArray<Slot | null> = new StaticArray<Slot | null>(NCCL_STEPS);
  private readonly further: Slot[] = [];
  /** A file may leave any number of steps in flight. */
  private readonly extras: LaneNumbers = new LaneNumbers();

  constructor(
    private readonly sink: Sink,
    private readonly connection: Connection,
    private readonly lane: i32,
  ) {}

  acquire(step: i32, at: f64): Slot {
    const own = step & (NCCL_STEPS - 1);
    const known = unchecked(this.slots[own]);
    let slot = known === null ? this.describe(own) : known;
    if (known === null) this.slots[own] = slot;
    if (slot.isBusy || slot.phaseAt > at) {
      const extra = this.extras.acquire(at);
      while (this.further.length <= extra) this.further.push(this.describe(NCCL_STEPS + this.further.length));
      slot = this.further[extra];
    }
    slot.isBusy = true;
    slot.phaseAt = at;
    return slot;
  }

  /** Its step is over, at its `phaseAt`. */
  release(slot: Slot): void {
    slot.isBusy = false;
    if (slot.number >= NCCL_STEPS) this.extras.release(slot.number - NCCL_STEPS, slot.phaseAt);
  }

  private describe(number: i32): Slot {
    const parent = this.connection.track(this.lane);
    const track = this.sink.newTrack(parent, TrackKind.Slices, Detail.Step, What.Slot, number);
    return new Slot(this, number, track);
  }
}

export class Connection {
  readonly lanes: LaneNumbers = new LaneNumbers();
  /**
   * Sets of step slots. An operation has a set from its first sign of life on. NCCL works on the operations of a connection one after the
   * other, while many may be queued.
   */
  readonly slotSets: LaneNumbers = new LaneNumbers();
  private readonly tracks: Track[] = [];
  private readonly slots: Slots[] = [];

  constructor(
    private readonly sink: Sink,
    private readonly group: Track,
    private readonly comm: i32,
    private readonly channel: i32,
    readonly peer: i32,
    readonly direction: Direction,
    /** The part of its transfers' ids that both ends share. 0: the other end is not known, or gets no arrow. */
    readonly transfers: u64,
  ) {}

  track(lane: i32): Track {
    while (this.tracks.length <= lane) {
      const number = this.tracks.length * 4 + (this.direction as i32);
      this.tracks.push(
        this.sink.newTrack(
          this.group,
          TrackKind.Slices,
          Detail.Op,
          What.Ops,
          this.comm,
          this.channel,
          this.peer,
          number,
        ),
      );
    }
    return this.tracks[lane];
  }

  /** The steps' tracks of a set, which lie below the lane with the same number. */
  slotsOf(set: i32): Slots {
    while (this.slots.length <= set) this.slots.push(new Slots(this.sink, this, this.slots.length));
    return this.slots[set];
  }
}
