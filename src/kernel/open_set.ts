/** The operations, or blocks, that are open. Each knows its place in a list. If one leaves, the last one takes its place. */

import { Placed } from './event';

export class OpenSet<T extends Placed> {
  private readonly members: T[] = [];
  private added: f64 = 0;

  get size(): i32 {
    return this.members.length;
  }

  add(one: T): void {
    if (one.place >= 0) return;
    one.place = this.members.length;
    this.members.push(one);
    one.arrival = this.added++;
  }

  delete(one: T): void {
    const place = one.place;
    if (place < 0) return;
    const last = this.members.pop();
    if (last !== one) {
      this.members[place] = last;
      last.place = place;
    }
    one.place = -1;
  }

  /** In order of arrival. */
  all(): T[] {
    return this.members.slice(0).sort((a, b) => (a.arrival < b.arrival ? -1 : 1));
  }
}
