/**
 * Tracks in Perfetto's words. Whatever the UI would do by itself is said explicitly: siblings keep their order and
 * never merge by name. Direct children of a process cannot be ordered, so a group stands between it and them.
 */

import { assertNever } from '../../base/assert.js';
import type { TrackSpec } from '../tracks/sink.js';
import { toLong } from './long.js';
import { CounterDescriptor, TrackDescriptorEnums, type TrackDescriptor } from './protos.js';

const { ChildTracksOrdering, SiblingMergeBehavior } = TrackDescriptorEnums;
const { Unit } = CounterDescriptor;

export interface ProcessSpec {
  /** Never 0, and unlike any other block's: to the importer 0 is the idle task, and twice the same is a reuse. */
  readonly pid: number;
  readonly name: string;
  /** Position among the processes, ascending. */
  readonly orderRank: number;
  readonly description?: string | undefined;
  readonly labels?: readonly string[] | undefined;
}

export const processDescriptor = (spec: ProcessSpec, uuid: number): TrackDescriptor => ({
  uuid: toLong(BigInt(uuid)),
  process: { pid: spec.pid, processName: spec.name, processLabels: [...(spec.labels ?? [])] },
  siblingOrderRank: spec.orderRank,
  ...(spec.description !== undefined && { description: spec.description }),
});

export const trackDescriptor = (
  spec: TrackSpec,
  uuid: number,
  parent: number | undefined,
): TrackDescriptor => ({
  uuid: toLong(BigInt(uuid)),
  ...(parent !== undefined && { parentUuid: toLong(BigInt(parent)) }),
  name: spec.name,
  ...(spec.description !== undefined && { description: spec.description }),
  childOrdering: ChildTracksOrdering.EXPLICIT,
  siblingOrderRank: spec.rank,
  siblingMergeBehavior: SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE,
  ...dataOf(spec),
});

function dataOf(spec: TrackSpec): Pick<TrackDescriptor, 'counter' | 'state'> {
  switch (spec.kind) {
    case 'group':
    case 'slices':
      return {};
    case 'state':
      return { state: {} };
    case 'counter':
      return { counter: unitOf(spec.unit) };
    default:
      return assertNever(spec, 'kind of track');
  }
}

/** The units Perfetto knows are scaled by the UI ("1.2 MiB"), others are shown as they are. */
function unitOf(unit: string): NonNullable<TrackDescriptor['counter']> {
  if (unit === 'bytes') return { unit: Unit.UNIT_SIZE_BYTES };
  if (unit === 'count') return { unit: Unit.UNIT_COUNT };
  return { unitName: unit };
}

/** Whether samples are integers; the contract of TrackSink.counter. */
export const isIntegerUnit = (unit: string): boolean => unit === 'bytes' || unit === 'count';
