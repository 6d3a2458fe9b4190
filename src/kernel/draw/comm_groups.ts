/** One group of tracks per communicator, in the order of first use, and one for each process that this one executes operations for. */

import { Op } from '../event';
import { Comm } from '../comm';
import { Sink } from './sink';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

export class CommGroups {
  private readonly foreign: Map<u64, Track> = new Map<u64, Track>();

  constructor(private readonly sink: Sink) {}

  group(comm: Comm): Track {
    const known = comm.group;
    if (known !== null) return known;
    const made = this.sink.newTrack(null, TrackKind.Group, Detail.Inherited, What.Comm, comm.number);
    comm.group = made;
    return made;
  }

  /** An operation's communicator, or the group of those executed for another process. */
  groupOf(op: Op): Track {
    if (!op.isForeign) return this.group(op.comm);
    const context = op.context;
    if (this.foreign.has(context)) return this.foreign.get(context);
    const high = <f64>(context >> 32);
    const low = <f64>(context & 0xffff_ffff);
    const place = this.foreign.size;
    const made = this.sink.newTrack(
      null,
      TrackKind.Group,
      Detail.Inherited,
      What.Foreign,
      place,
      op.pid,
      high,
      low,
    );
    this.foreign.set(context, made);
    return made;
  }
}
