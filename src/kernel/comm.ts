/** A communicator of a file. */

import { CommOps } from './draw/comm_ops';
import { CommLanes } from './draw/lanes';
import { Text } from './draw/text';
import { Track } from './draw/tracks';

/** A communicator as the file's table names it, and `unknownComm` for all that the table does not name. */
export class Comm {
  /** What the drawing keeps of it: its group of tracks, lanes of its works, its operations in flight, its name. */
  group: Track | null = null;
  collLanes: CommLanes | null = null;
  pointLanes: CommLanes | null = null;
  opsInFlight: CommOps | null = null;
  label: Text | null = null;
  /** Not selected: none of its events is drawn. */
  isLeftOut: bool = false;

  /** Place among the communicators that events named, in the order of their first event; -1: none did. */
  place: i32 = -1;
  /** Tick of the newest move (progress.ts); NaN: none. */
  lastMove: f64 = NaN;

  constructor(
    /** In the file's table; -1: not known. */
    readonly number: i32,
    /** 0: not reported. */
    readonly commId: u64,
    readonly rank: i32,
    readonly nRanks: i32,
    /** Tick; NaN: it was not finalized. */
    readonly finalized: f64,
    /** Version of the profiler interface. */
    readonly abi: i32,
  ) {}

  @inline
  get isKnown(): bool {
    return this.number >= 0;
  }

  /** Events of a communicator that come after its finalize move nothing. */
  moved(at: f64): void {
    if (at > this.finalized) return;
    if (!(this.lastMove >= at)) this.lastMove = at;
  }
}
