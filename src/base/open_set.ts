/**
 * The open ones among things that come and go by the hundred thousand. A Set makes garbage for each. Here each thing knows its
 * place in a list, and the last one takes the place of the one that leaves.
 */

/** A thing that is in at most one such set. `place` belongs to the set. -1: in none. */
export interface HasPlace {
  place: number;
}

export class OpenSet<T extends HasPlace> {
  private readonly members: T[] = [];
  /** By place: the number of its arrival. */
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

  /** True if it was in the set. */
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

  /** In order of arrival. */
  all(): T[] {
    const places = this.order.map((_, place) => place).sort((a, b) => this.order[a]! - this.order[b]!);
    return places.map((place) => this.members[place]!);
  }
}
