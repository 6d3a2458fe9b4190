/** A track event with everything resolved that its sequence leaves out: time, track, names, arguments. */

import { TrackEvent, given, signed, unsigned } from './messages.js';
import type { Annotation, TrackEventMessage } from './messages.js';
import type { SequenceState } from './sequences.js';
import type { Problems, ViewArg } from './types.js';

export type EventType = 'begin' | 'end' | 'instant' | 'counter' | 'state';

export interface Event {
  readonly ts: bigint;
  /** Position of the packet in the file. */
  readonly packet: number;
  readonly type: EventType;
  readonly uuid: bigint;
  readonly name: string | null;
  readonly args: Record<string, ViewArg>;
  readonly flows: readonly bigint[];
  readonly endingFlows: readonly bigint[];
  readonly correlation: bigint | string | undefined;
  /** Of a counter, as written; incremental ones are added up by the reader of the file. */
  readonly value: number | undefined;
}

const { Type } = TrackEvent;
const TYPES = new Map<number, EventType>([
  [Type.TYPE_SLICE_BEGIN, 'begin'],
  [Type.TYPE_SLICE_END, 'end'],
  [Type.TYPE_INSTANT, 'instant'],
  [Type.TYPE_COUNTER, 'counter'],
  [Type.TYPE_STATE, 'state'],
]);

export function resolveEvent(
  message: TrackEventMessage,
  ts: bigint,
  packet: number,
  sequence: SequenceState,
  problems: Problems,
): Event | undefined {
  const type = TYPES.get(message.type ?? 0);
  if (type === undefined) {
    problems.add('track_event_parser_errors', packet, `type ${message.type}`);
    return undefined;
  }
  const uuid = given(message, 'trackUuid');
  const nameIid = given(message, 'nameIid');
  const integer = given(message, 'counterValue');
  const correlation = given(message, 'correlationId');
  for (const iid of message.categoryIids ?? []) sequence.text('category', unsigned(iid), packet);
  return {
    ts,
    packet,
    type,
    uuid: uuid ? unsigned(uuid) : (sequence.defaultTrack ?? 0n),
    name: nameIid ? sequence.text('name', unsigned(nameIid), packet) : (given(message, 'name') ?? null),
    args: resolveArgs(message.debugAnnotations ?? [], packet, sequence, problems),
    flows: (message.flowIds ?? []).map(unsigned),
    endingFlows: (message.terminatingFlowIds ?? []).map(unsigned),
    correlation: correlation ? unsigned(correlation) : given(message, 'correlationIdStr'),
    value: integer ? Number(signed(integer)) : given(message, 'doubleCounterValue'),
  };
}

function resolveArgs(
  annotations: readonly Annotation[],
  packet: number,
  sequence: SequenceState,
  problems: Problems,
): Record<string, ViewArg> {
  const args: Record<string, ViewArg> = {};
  for (const annotation of annotations) {
    const iid = given(annotation, 'nameIid');
    const name = iid ? sequence.text('argument name', unsigned(iid), packet) : given(annotation, 'name');
    const value = valueOf(annotation, packet, sequence);
    if (name === null || name === undefined)
      problems.add('track_event_parser_errors', packet, 'argument without name');
    else if (value === undefined)
      problems.add('track_event_parser_errors', packet, `argument ${name} without value`);
    // The importer's own keys use these characters.
    else args[name.replace(/[.[\]]/g, '_')] = value;
  }
  return args;
}

function valueOf(annotation: Annotation, packet: number, sequence: SequenceState): ViewArg | undefined {
  const uint = given(annotation, 'uintValue');
  if (uint) return plain(unsigned(uint));
  const int = given(annotation, 'intValue');
  if (int) return plain(signed(int));
  const iid = given(annotation, 'stringValueIid');
  if (iid) return sequence.text('argument text', unsigned(iid), packet) ?? undefined;
  return (
    given(annotation, 'boolValue') ?? given(annotation, 'doubleValue') ?? given(annotation, 'stringValue')
  );
}

/** A number where it is exact. */
const plain = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
