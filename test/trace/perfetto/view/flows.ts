/** The importer's arrows: each user of a flow id is joined with the user before it, the earlier start first. */

import type { Event } from './events.js';
import type { ViewFlow, ViewSlice } from './types.js';

export class Flows {
  readonly list: ViewFlow[] = [];
  private readonly last = new Map<bigint, ViewSlice>();

  /** `slice`: the one the event began or closed. */
  add(event: Event, slice: ViewSlice): void {
    for (const id of event.flows) {
      this.join(id, slice);
      this.last.set(id, slice);
    }
    for (const id of event.endingFlows) {
      this.join(id, slice);
      this.last.delete(id);
    }
  }

  private join(id: bigint, slice: ViewSlice): void {
    const before = this.last.get(id);
    if (before === undefined) return;
    const isForward = before.ts <= slice.ts;
    this.list.push({ id, from: isForward ? before : slice, to: isForward ? slice : before });
  }
}
