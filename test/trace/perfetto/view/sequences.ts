/**
 * A sequence's incremental state: whether it is valid, its default clock and track, its interned strings. Applied in
 * the importer's order: cleared, lost packets, defaults, interned data, and only then the packet's own content.
 */

import { given, unsigned, type Interned, type Packet } from './messages.js';
import type { Event } from './events.js';
import type { Problems } from './types.js';

const CLEARED = 1;
export const NEEDS_STATE = 2;

export type StringKind = 'category' | 'name' | 'argument name' | 'argument text';

export class SequenceState {
  isValid = false;
  defaultClock: number | undefined;
  defaultTrack: bigint | undefined;
  /** Of incremental counters, by track. */
  private readonly counters = new Map<bigint, number>();
  private readonly strings = new Map<string, string>();
  private hasSeenPackets = false;

  constructor(
    readonly id: number,
    private readonly problems: Problems,
  ) {}

  /** Everything a packet does to its sequence before it is looked at itself. */
  apply(packet: Packet, index: number): void {
    const isCleared = ((packet.sequenceFlags ?? 0) & CLEARED) !== 0;
    if (packet.firstPacketOnSequence === true && this.hasSeenPackets) {
      this.problems.add('not the first packet of its sequence', index, `sequence ${this.id}`);
    }
    this.hasSeenPackets = true;
    if (isCleared) this.clear();
    else if ((packet.previousPacketDropped ?? 0) !== 0) this.isValid = false;
    if (packet.tracePacketDefaults) {
      this.defaultClock = given(packet.tracePacketDefaults, 'timestampClockId');
      const track = packet.tracePacketDefaults.trackEventDefaults;
      const uuid = track ? given(track, 'trackUuid') : undefined;
      this.defaultTrack = uuid && unsigned(uuid);
    }
    if (packet.internedData) this.intern(packet.internedData, index);
  }

  text(kind: StringKind, iid: bigint, index: number): string | null {
    const text = this.strings.get(`${kind} ${iid}`);
    if (text !== undefined) return text;
    this.problems.add('interned_data_tokenizer_errors', index, `${kind} ${iid} is unknown`);
    return null;
  }

  /** A sample of an incremental counter: the distance from the sample before. */
  addedUp(event: Event): Event {
    const value = (this.counters.get(event.uuid) ?? 0) + (event.value ?? 0);
    this.counters.set(event.uuid, value);
    return { ...event, value };
  }

  private clear(): void {
    this.isValid = true;
    this.strings.clear();
    this.counters.clear();
    this.defaultClock = undefined;
    this.defaultTrack = undefined;
  }

  private intern(data: Interned, index: number): void {
    if (!this.isValid) {
      this.problems.add('interned_data_skipped_incremental_state_invalid', index, `sequence ${this.id}`);
      return;
    }
    const utf8 = new TextDecoder('utf-8', { fatal: true });
    const define = (
      kind: StringKind,
      iid: { low: number; high: number } | null | undefined,
      text: string,
    ) => {
      const key = `${kind} ${iid ? unsigned(iid) : 0n}`;
      if (!iid || unsigned(iid) === 0n)
        this.problems.add('interned_data_tokenizer_errors', index, `${kind} with iid 0`);
      else if (this.strings.has(key))
        this.problems.add('interned id defined twice', index, `${key}: ${text}`);
      else this.strings.set(key, text);
    };
    for (const { iid, name } of data.eventCategories ?? []) define('category', iid, name ?? '');
    for (const { iid, name } of data.eventNames ?? []) define('name', iid, name ?? '');
    for (const { iid, name } of data.debugAnnotationNames ?? []) define('argument name', iid, name ?? '');
    for (const { iid, str } of data.debugAnnotationStringValues ?? []) {
      define('argument text', iid, utf8.decode(str ?? new Uint8Array()));
    }
  }
}
