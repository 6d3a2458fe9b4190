/**
 * Proxy progress threads: a thread's state by NCCL's ProxyCtrl events, as a state track each. Idle and Active last until the next event.
 * Sleep lasts to Wakeup, Append to AppendEnd, and then the thread returns to its earlier state.
 */

import type { TraceNs } from '../../base/time.js';
import type { CtrlState } from '../../model/types.js';
import { RANK_ORDER } from './comm_groups.js';
import type { TrackContext } from './context.js';
import type { TrackRef } from './sink.js';

interface ProxyThread {
  readonly track: TrackRef;
  edge: 'Idle' | 'Active' | null;
  newest: TraceNs;
}

export class ProxyThreadTracks {
  private readonly threads = new Map<number, ProxyThread>();

  constructor(private readonly context: TrackContext) {}

  /** A folded burst is reported after its end, by the last event of each kind: only the newest is the thread's state. */
  state(ring: number, state: CtrlState, at: TraceNs): void {
    const thread = this.threadOf(ring);
    if (at < thread.newest) return;
    thread.newest = at;
    if (state === 'Idle' || state === 'Active') thread.edge = state;
    const shown = state === 'Wakeup' || state === 'AppendEnd' ? thread.edge : state;
    this.context.sink.state(thread.track, at, shown);
  }

  /** After the end of a closed file, or of a silent process, the state of its threads is not known. */
  finish(): void {
    const { sink, file, time, lastSign, isSilent } = this.context;
    if (lastSign === null || (file.header.life !== 'closed' && !isSilent)) return;
    const at = time(lastSign);
    for (const { track, newest } of this.threads.values()) sink.state(track, at > newest ? at : newest, null);
  }

  private threadOf(ring: number): ProxyThread {
    let thread = this.threads.get(ring);
    if (!thread) {
      const lease = this.context.file.leases.findLast((candidate) => candidate.ring === ring);
      const track = this.context.sink.describe({
        kind: 'state',
        detail: 'op',
        name: lease ? `proxy thread ${lease.tid}` : `proxy thread of ring ${ring}`,
        rank: RANK_ORDER.proxyThreads + ring,
        description:
          "NCCL's proxy progress thread: Active while it moves data, Idle while it polls without progress. Ends with the file.",
      });
      thread = { track, edge: null, newest: 0 as TraceNs };
      this.threads.set(ring, thread);
    }
    return thread;
  }
}
