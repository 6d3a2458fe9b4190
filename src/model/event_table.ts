/**
 * The events that later records may refer to, by handle: open ones, and parents whose children may come after their stop. A handle is a
 * position, so an event's place is its position modulo the table's size, per ring. A newer event displaces the event that is older by that
 * size. A displaced event moves to a map if it is open, or if it belongs to a captured graph, because the graph's calls are parents at
 * every replay. A sweep of the map, now and then, removes the events that were over at the sweep before. So the map stays small, and late
 * records are still recognised.
 */

import type { RingFacts } from '../rankfile/types.js';
import { keyRing, type HandleKey } from './record_fields.js';
import type { Ctrl, HostSpan, Kernel, Op, Work } from './types.js';

export type Event = HostSpan | Work | Op | Kernel | Ctrl;

/** A step as the parent of something: step_table.ts has the rest. */
export interface StepName {
  readonly type: 'step';
  readonly number: number;
  readonly op: Op;
}

/**
 * Calls and work are kept long, because their children may come thousands of calls later. Operations and kernels are kept until shortly
 * after they stop, so that late records are recognised. Not longer, because the garbage collector copies everything that is kept. Powers of
 * two, in positions.
 */
const CALL_PLACES = 1 << 16;
const PROXY_PLACES = 1 << 11;
/** The map is swept after this many events, or as many as it holds if that is more. */
const SWEEP_AFTER = 1 << 11;

interface Places {
  readonly keys: Float64Array;
  readonly events: (Event | undefined)[];
  readonly mask: number;
  /** The greatest key so far. */
  newest: number;
}

export class EventTable {
  private readonly rings: (Places | undefined)[] = [];
  private readonly displaced = new Map<HandleKey, Event>();
  /** Events that were over at the newest sweep. */
  private over = new Set<HandleKey>();
  private sweepAt = SWEEP_AFTER;

  constructor(private readonly known: readonly Pick<RingFacts, 'ring' | 'class' | 'capacity' | 'chunks'>[]) {}

  get(key: HandleKey): Event | undefined {
    const places = this.placesOf(key);
    if (places) {
      // A key's low 32 bits are its position's: the mask picks the place without a division.
      const place = key & places.mask;
      if (places.keys[place] === key) return places.events[place];
    }
    return this.displaced.size === 0 ? undefined : this.displaced.get(key);
  }

  set(key: HandleKey, event: Event): void {
    const places = this.placesOf(key) ?? this.makePlaces(key);
    if (!places) {
      this.displace(key, event);
      return;
    }
    const place = key & places.mask;
    if (places.keys[place] !== key) this.passTo(key, places);
    places.keys[place] = key;
    places.events[place] = event;
  }

  /** Events begin at few positions. Without this, most places would keep an event of long ago. */
  private passTo(key: HandleKey, places: Places): void {
    const { keys, events, mask } = places;
    const first = Math.max(places.newest + 1, key - mask);
    for (let passed = Math.min(first, key); passed <= key; passed++) {
      const place = passed & mask;
      const before = events[place];
      if (before === undefined) continue;
      if (isWanted(before)) this.displace(keys[place]!, before);
      events[place] = undefined;
      keys[place] = -1;
    }
    places.newest = Math.max(places.newest, key);
  }

  private displace(key: HandleKey, event: Event): void {
    this.displaced.set(key, event);
    if (this.displaced.size >= this.sweepAt) this.sweep();
  }

  private sweep(): void {
    const { displaced, over } = this;
    this.over = new Set();
    for (const [key, event] of displaced) {
      if (isWanted(event)) continue;
      if (over.has(key)) displaced.delete(key);
      else this.over.add(key);
    }
    const wanted = displaced.size - this.over.size;
    this.sweepAt = displaced.size + Math.max(SWEEP_AFTER, wanted);
  }

  delete(key: HandleKey): void {
    const places = this.placesOf(key);
    const place = places ? key & places.mask : 0;
    if (places?.keys[place] === key) {
      places.keys[place] = -1;
      places.events[place] = undefined;
    } else {
      this.displaced.delete(key);
    }
  }

  /** Makes a ring's table at its first event: most rings never have one. */
  private makePlaces(key: HandleKey): Places | undefined {
    const ring = keyRing(key);
    const facts = this.known.find((candidate) => candidate.ring === ring);
    if (key < 0 || facts === undefined) return undefined;
    const isProxy = facts.class === 'ops' || facts.class === 'steps';
    const size = Math.min(isProxy ? PROXY_PLACES : CALL_PLACES, positionsIn(facts));
    this.rings[ring] = {
      keys: new Float64Array(size).fill(-1),
      events: new Array<Event | undefined>(size),
      mask: size - 1,
      newest: -1,
    };
    return this.rings[ring];
  }

  /** Stand-ins for foreign parents have negative keys and no ring. */
  private placesOf(key: HandleKey): Places | undefined {
    return key < 0 ? undefined : this.rings[keyRing(key)];
  }
}

/** A power of two, not less than the ring's positions in the file. */
function positionsIn({ capacity, chunks }: Pick<RingFacts, 'capacity' | 'chunks'>): number {
  const positions = capacity + (chunks ? chunks.end - chunks.from : 0);
  return 2 ** Math.ceil(Math.log2(Math.max(1, positions)));
}

function isWanted(event: Event): boolean {
  switch (event.type) {
    case 'ctrl':
      return false;
    case 'work':
      return event.enqueued === null || event.openChildren > 0;
    case 'host':
      return event.stop === null || event.graphCaptured;
    case 'op':
      return event.stop === null && !event.isEndless;
    default:
      return event.stop === null;
  }
}
