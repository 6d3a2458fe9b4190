/**
 * The events that later records may refer to, by handle: open ones, and parents whose children may come after their stop. A handle is a
 * position, so an event's place is its position modulo the table's size, per ring. A newer event displaces the event that is older by that
 * size. A displaced event moves to a map if it is open, or if it belongs to a captured graph, because the graph's calls are parents at
 * every replay. A sweep of the map, now and then, drops the events that were over at the sweep before. So the map stays small, and late
 * records are still recognised.
 */

import { Block, Event, Host, Op, ringOf, Type, Work } from './event';
import { MAX_RINGS } from './numbers';
import { dropped } from './rows';

/**
 * Calls and work are kept long, because their children may come thousands of calls later. Operations and blocks are kept until shortly after
 * they stop, so that late records are recognised. Powers of two, in positions.
 */
const CALL_PLACES: i32 = 1 << 16;
const PROXY_PLACES: i32 = 1 << 11;
/** The map is swept after this many events, or as many as it holds if that is more. */
const SWEEP_AFTER: i32 = 1 << 11;

class Places {
  readonly keys: StaticArray<i64>;
  readonly events: StaticArray<Event | null>;
  readonly mask: i64;
  /** The greatest key so far. */
  newest: i64 = -1;

  constructor(size: i32) {
    this.keys = new StaticArray<i64>(size).fill(-1);
    this.events = new StaticArray<Event | null>(size);
    this.mask = size - 1;
  }
}

export class EventTable {
  /** By ring. Made at the ring's first event, because most rings never have one. */
  private readonly rings: StaticArray<Places | null> = new StaticArray<Places | null>(MAX_RINGS + 1);
  /** By ring: places that it needs; 0: the file has no such ring. */
  private readonly sizes: StaticArray<i32> = new StaticArray<i32>(MAX_RINGS + 1);
  private readonly displaced: Map<i64, Event> = new Map<i64, Event>();
  /** Events that were over at the newest sweep. */
  private over: Set<i64> = new Set<i64>();
  private sweepAt: i32 = SWEEP_AFTER;

  /** `positions`: of the ring in the file; `isProxy`: it has no calls. */
  ring(ring: i32, isProxy: bool, positions: f64): void {
    const most = isProxy ? PROXY_PLACES : CALL_PLACES;
    let size = 1;
    while (size < most && <f64>size < positions) size <<= 1;
    this.sizes[ring] = size;
  }

  /** A negative key is that of a stand-in for a parent that has no place in this file. */
  get(key: i64): Event | null {
    const places: Places | null = key < 0 ? null : unchecked(this.rings[ringOf(key)]);
    if (places !== null) {
      const place = <i32>(key & places.mask);
      if (unchecked(places.keys[place]) == key) return unchecked(places.events[place]);
    }
    return this.displaced.size > 0 && this.displaced.has(key) ? this.displaced.get(key) : null;
  }

  set(key: i64, event: Event): void {
    const places: Places | null = key < 0 ? null : this.placesOf(ringOf(key));
    if (places === null) {
      this.displace(key, event);
      return;
    }
    const place = <i32>(key & places.mask);
    if (unchecked(places.keys[place]) != key) this.passTo(key, places);
    unchecked((places.keys[place] = key));
    unchecked((places.events[place] = event));
  }

  delete(key: i64): void {
    const places: Places | null = key < 0 ? null : this.rings[ringOf(key)];
    const place = places === null ? 0 : <i32>(key & places.mask);
    if (places !== null && places.keys[place] == key) {
      const event = places.events[place];
      places.keys[place] = -1;
      places.events[place] = null;
      if (event !== null) dropped(event);
    } else if (this.displaced.has(key)) {
      const event = this.displaced.get(key);
      this.displaced.delete(key);
      dropped(event);
    }
  }

  private placesOf(ring: i32): Places | null {
    const known = unchecked(this.rings[ring]);
    if (known !== null || this.sizes[ring] == 0) return known;
    return (this.rings[ring] = new Places(this.sizes[ring]));
  }

  /** Events begin at few positions. Without this, most places would keep an event of long ago. */
  private passTo(key: i64, places: Places): void {
    const first = max(places.newest + 1, key - places.mask);
    for (let passed = min(first, key); passed <= key; passed++) {
      const place = <i32>(passed & places.mask);
      const before = unchecked(places.events[place]);
      if (before === null) continue;
      if (isWanted(before)) this.displace(unchecked(places.keys[place]), before);
      else dropped(before);
      unchecked((places.events[place] = null));
      unchecked((places.keys[place] = -1));
    }
    places.newest = max(places.newest, key);
  }

  private displace(key: i64, event: Event): void {
    this.displaced.set(key, event);
    if (this.displaced.size >= this.sweepAt) this.sweep();
  }

  private sweep(): void {
    const over = new Set<i64>();
    const keys = this.displaced.keys();
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const event = this.displaced.get(key);
      if (isWanted(event)) continue;
      if (this.over.has(key)) {
        this.displaced.delete(key);
        dropped(event);
      } else over.add(key);
    }
    this.over = over;
    this.sweepAt = this.displaced.size + max(SWEEP_AFTER, this.displaced.size - over.size);
  }
}

function isWanted(event: Event): bool {
  switch (event.type) {
    case Type.Ctrl:
      return false;
    case Type.Work: {
      const work = changetype<Work>(event);
      return isNaN(work.enqueued) || work.openChildren > 0;
    }
    case Type.Host: {
      const host = changetype<Host>(event);
      return isNaN(host.stop) || host.isCaptured;
    }
    case Type.Op: {
      const op = changetype<Op>(event);
      return isNaN(op.stop) && !op.isEndless;
    }
    default:
      return isNaN(changetype<Block>(event).stop);
  }
}
