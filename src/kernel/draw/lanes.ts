/**
 * Lanes for overlapping slices. Perfetto shows wrong times for slices that overlap on one track, without a message. So each lane is a track
 * and holds one slice at a time. A slice takes the lowest free lane. A lane's track is made at its first use.
 */

import { LaneNumbers } from '../lanes';
import { Sink } from './sink';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

/** Lanes of a communicator, of the tracks with these numbers (`What`). */
export class CommLanes extends LaneNumbers {
  private readonly tracks: Track[] = [];

  constructor(
    private readonly sink: Sink,
    private readonly group: Track,
    /** Number of the communicator. */
    private readonly comm: i32,
    private readonly what: What,
    private readonly detail: Detail,
    private readonly b: f64,
    private readonly c: f64 = 0,
  ) {
    super();
  }

  track(lane: i32): Track {
    const tracks = this.tracks;
    while (tracks.length <= lane) {
      const next = tracks.length;
      tracks.push(this.newTrack(next));
    }
    return tracks[lane];
  }

  private newTrack(lane: i32): Track {
    const number = this.comm;
    return this.what == What.Works
      ? this.sink.newTrack(this.group, TrackKind.Slices, this.detail, this.what, number, this.b, lane)
      : this.sink.newTrack(
          this.group,
          TrackKind.Slices,
          this.detail,
          this.what,
          number,
          this.b,
          this.c,
          lane,
        );
  }
}
