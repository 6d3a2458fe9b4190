/**
 * What is open just now, of things that come and go by the hundred thousand. A Set makes garbage at each of them; here each thing
 * knows its own place in a list, and the last one takes the place of the one that leaves.
 */

/** Anything that is in one such set at most. `place` is the set's own; -1: it is in none. */
export interface HasPlace {
  place: number;
}

export class OpenSet<T extends HasPlace> {
  private readonly members: T[] = [];
  /** When each came. */
  private readonly order: number[] = [];
  private added = 0;

  get size(): number {
    return this.members.length;
  }

  add(one: T): void {
    if (one.place >= 0) return;
    one.place = this.members.length;
    this.members.push(one);
    this.order.push(this.added++);
  }

  /** Whether it was here. */
  delete(one: T): boolean {
    const { place } = one;
    if (place < 0) return false;
    const last = this.members.pop()!;
    const order = this.order.pop()!;
    if (last !== one) {
      this.members[place] = last;
      this.order[place] = order;
      last.place = place;
    }
    one.place = -1;
    return true;
  }

  /** In the order in which they came. */
  all(): T[] {
    const places = this.order.map((_, place) => place).sort((a, b) => this.order[a]! - this.order[b]!);
    return places.map((place) => this.members[place]!);
  }
}
