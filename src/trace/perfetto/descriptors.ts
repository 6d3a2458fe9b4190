/**
 * Perfetto's descriptors of tracks. All defaults of the UI are set explicitly: siblings keep their order and never merge by name. A
 * process's direct children cannot be ordered, so a group is between.
 */

import { assertNever } from '../../base/assert.js';
import type { TrackSpec } from '../tracks/sink.js';
import { toLong } from './long.js';
import { CounterDescriptor, TrackDescriptorEnums, type TrackDescriptor } from './protos.js';

const { ChildTracksOrdering, SiblingMergeBehavior } = TrackDescriptorEnums;
const { Unit } = CounterDescriptor;

export interface ProcessSpec {
  /** Never 0, and unique among blocks: to the importer 0 is the idle task, and a repeated pid is a reuse. */
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

/** The UI scales the units that Perfetto knows ("1.2 MiB") and shows others unchanged. */
function unitOf(unit: string): NonNullable<TrackDescriptor['counter']> {
  if (unit === 'bytes') return { unit: Unit.UNIT_SIZE_BYTES };
  if (unit === 'count') return { unit: Unit.UNIT_COUNT };
  return { unitName: unit };
}

/** Whether samples are integers: the contract of TrackSink.counter. */
export const isIntegerUnit = (unit: string): boolean => unit === 'bytes' || unit === 'count';
