/**
 * What a sequence's packets should be, as messages for the generated code: its own bookkeeping of times and interned
 * strings, with nothing of the writer's.
 */

import type { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import type { ArgValue, SliceExtra } from '../../../src/trace/tracks/sink.js';
import { T0 } from './blocks.js';

export type Packet = perfetto.protos.TracePacket.$Properties;
export type TrackEventMessage = perfetto.protos.TrackEvent.$Properties;
type Annotation = perfetto.protos.DebugAnnotation.$Properties;

export const long = (value: bigint) => ({
  low: Number(BigInt.asIntN(32, value)),
  high: Number(BigInt.asIntN(32, value >> 32n)),
  unsigned: value >= 0n,
});
export const big = (value: number) => long(BigInt(value));

/** One sequence as the expectation sees it. */
export class ExpectedSequence {
  private readonly tables = {
    names: new Map<string, number>(),
    argNames: new Map<string, number>(),
    texts: new Map<string, number>(),
  };
  private fresh: { table: string; id: number; text: string }[] = [];
  last = 0;
  hasOpened = false;

  constructor(
    readonly id: number,
    readonly late: boolean,
    private readonly limit: number,
  ) {}

  opening(): Packet {
    this.hasOpened = true;
    const own = this.late
      ? { clockId: 65, timestamp: long(0n) }
      : { clockId: 64, timestamp: long(T0), isIncremental: true };
    const clocks = [own, { clockId: 1, timestamp: long(T0) }];
    return {
      trustedPacketSequenceId: this.id,
      sequenceFlags: 1,
      firstPacketOnSequence: true,
      tracePacketDefaults: { timestampClockId: this.late ? 65 : 64 },
      clockSnapshot: { clocks },
    };
  }

  intern(table: 'names' | 'argNames' | 'texts', text: string): number | undefined {
    const known = this.tables[table].get(text);
    if (known !== undefined) return known;
    const id = this.tables[table].size + 1;
    if (id > this.limit) return undefined;
    this.tables[table].set(text, id);
    this.fresh.push({ table, id, text });
    return id;
  }

  packet(at: number, trackEvent: TrackEventMessage): Packet {
    const timestamp = big(this.late ? at : at - this.last);
    this.last = at;
    const of = (table: string) => this.fresh.filter((entry) => entry.table === table);
    const named = (table: string) => of(table).map(({ id, text }) => ({ iid: big(id), name: text }));
    const internedData = {
      eventNames: named('names'),
      debugAnnotationNames: named('argNames'),
      debugAnnotationStringValues: of('texts').map(({ id, text }) => ({
        iid: big(id),
        str: Buffer.from(text),
      })),
    };
    const packet = {
      ...{ timestamp, trustedPacketSequenceId: this.id, trackEvent },
      ...(this.fresh.length > 0 && { internedData }),
    };
    this.fresh = [];
    return packet;
  }

  event(
    type: perfetto.protos.TrackEvent.Type,
    uuid: number,
    name: string | null,
    extra: SliceExtra = {},
  ): TrackEventMessage {
    const debugAnnotations = (extra.args ?? []).map(([key, value]) => this.annotation(key, value));
    const nameIid = name === null ? undefined : this.intern('names', name);
    return {
      debugAnnotations,
      type,
      trackUuid: big(uuid),
      ...(nameIid !== undefined ? { nameIid: big(nameIid) } : name !== null && { name }),
      ...(extra.flow && { flowIds: [long((BigInt(extra.flow.hi) << 32n) | BigInt(extra.flow.lo))] }),
      ...(extra.correlation !== undefined && { correlationId: big(extra.correlation) }),
    };
  }

  private annotation(key: string, value: ArgValue): Annotation {
    const iid = this.intern('argNames', key);
    const name = iid === undefined ? { name: key } : { nameIid: big(iid) };
    if (typeof value === 'boolean') return { ...name, boolValue: value };
    if (typeof value === 'string') {
      const text = this.intern('texts', value);
      return { ...name, ...(text === undefined ? { stringValue: value } : { stringValueIid: big(text) }) };
    }
    if (typeof value === 'number' && !Number.isInteger(value)) return { ...name, doubleValue: value };
    const integer = BigInt(value);
    return { ...name, ...(integer < 0n ? { intValue: long(integer) } : { uintValue: long(integer) }) };
  }
}
