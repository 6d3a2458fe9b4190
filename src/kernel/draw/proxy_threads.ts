/**
 * Proxy progress threads: a thread's state by NCCL's ProxyCtrl events, as a state track each. Idle and Active last until the next event.
 * Sleep lasts to Wakeup, Append to AppendEnd, and then the thread returns to its earlier state.
 */

import { MAX_RINGS, State } from '../numbers';
import { Sink } from './sink';
import { Text } from './text';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

class ProxyThread {
  /** Idle or Active; null: not known. */
  edge: Text | null = null;
  newest: f64 = 0;

  constructor(readonly track: Track) {}
}

export class ProxyThreads {
  private readonly threads: ProxyThread[] = [];
  private readonly places: StaticArray<ProxyThread | null> = new StaticArray<ProxyThread | null>(
    MAX_RINGS + 1,
  );

  constructor(private readonly sink: Sink) {}

  /** A folded burst is reported after its end, by the last event of each kind: only the newest is the thread's state. */
  state(ring: i32, state: i32, at: f64): void {
    const thread = this.threadOf(ring);
    if (at < thread.newest) return;
    thread.newest = at;
    if (state == State.CtrlIdle || state == State.CtrlActive) thread.edge = this.nameOf(state);
    const returns = state == State.CtrlWakeup || state == State.CtrlAppendEnd;
    this.sink.state(thread.track, at, returns ? thread.edge : this.nameOf(state));
  }

  /** After the end of a closed file, or of a silent process, the state of its threads is not known. */
  finish(lastSign: f64): void {
    for (let i = 0; i < this.threads.length; i++)
      this.sink.state(this.threads[i].track, max(lastSign, this.threads[i].newest), null);
  }

  /** An unknown state is shown with its number, because the thread was in that state. */
  private nameOf(state: i32): Text {
    const texts = this.sink.texts;
    switch (state) {
      case State.CtrlIdle:
        return texts.fixed('Idle');
      case State.CtrlActive:
        return texts.fixed('Active');
      case State.CtrlSleep:
        return texts.fixed('Sleep');
      case State.CtrlAppend:
        return texts.fixed('Append');
      default:
        return texts.of('state ' + state.toString());
    }
  }

  private threadOf(ring: i32): ProxyThread {
    const known = this.places[ring];
    if (known !== null) return known;
    const track = this.sink.newTrack(null, TrackKind.State, Detail.Op, What.ProxyThread, ring);
    const made = new ProxyThread(track);
    this.places[ring] = made;
    this.threads.push(made);
    return made;
  }
}
