/** The importer's states: entering one leaves the one before, entering it again changes nothing. */

import type { Event } from './events.js';
import type { ViewState, ViewTrack } from './types.js';

export class States {
  readonly list: ViewState[] = [];
  private readonly current = new Map<ViewTrack, ViewState>();

  enter(track: ViewTrack, event: Event): void {
    const before = this.current.get(track);
    if (before?.name === event.name) return;
    if (before) before.dur = event.ts - before.ts;
    this.current.delete(track);
    // Without a name the track is left without a state.
    if (event.name === null || event.name === '') return;
    const state: ViewState = { track, name: event.name, ts: event.ts, dur: -1n };
    this.current.set(track, state);
    this.list.push(state);
  }
}
