/**
 * The set of things that are open. Things come and go by the hundred thousand, and a Set makes garbage for each. Here each thing knows its
 * place in a list. If one leaves, the last one takes its place.
 */

/** A thing that is in at most one such set. `place` belongs to the set. -1: in none. */
export interface HasPlace {
  place: number;
}

export class OpenSet<T extends HasPlace> {
  private readonly members: T[] = [];
  /** By place: the thing's number in order of arrival. */
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
