/** The operations, or blocks, that are open. Each knows its place in a list. If one leaves, the last one takes its place. */

import { Placed } from './event';

export class OpenSet<T extends Placed> {
  private readonly members: T[] = [];
  /** By place: the thing's number in order of arrival. */
  private readonly order: f64[] = [];
  private added: f64 = 0;

  get size(): i32 {
    return this.members.length;
  }

  add(one: T): void {
    if (one.place >= 0) return;
    one.place = this.members.length;
    this.members.push(one);
    this.order.push(this.added++);
  }

  delete(one: T): void {
    const place = one.place;
    if (place < 0) return;
    const last = this.members.pop();
    const order = this.order.pop();
    if (last !== one) {
      this.members[place] = last;
      this.order[place] = order;
      last.place = place;
    }
    one.place = -1;
  }

  /** In order of arrival. */
  all(): T[] {
    const members = this.members;
    const order = this.order;
    const sorted = members.slice(0);
    const numbers = order.slice(0);
    // Nearly in order: the last one only takes the place of one that left.
    for (let i = 1; i < sorted.length; i++) {
      const one = sorted[i];
      const number = numbers[i];
      let at = i;
      for (; at > 0 && numbers[at - 1] > number; at--) {
        sorted[at] = sorted[at - 1];
        numbers[at] = numbers[at - 1];
      }
      sorted[at] = one;
      numbers[at] = number;
    }
    return sorted;
  }
}
