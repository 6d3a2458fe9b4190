/** The tables of one file: their areas, and their content. */

import * as format from './format/constants.js';
import { MIN_PARTS } from './format/layouts.js';
import type { AreaReader } from './areas.js';
import type { Area, Directory, TableClass } from './directory.js';
import type { Problems } from './problems.js';
import { concatenated } from './records.js';
import { lostEntries } from './table_damage.js';
import {
  readClockSamples,
  readCommunicators,
  readControlChanges,
  readLeases,
  readStrings,
  sortedSamples,
} from './table_records.js';
import type { FileFacts, Life, RecordColumns } from './file_types.js';

const { Kind } = format;

type Tables = Pick<
  FileFacts,
  'communicators' | 'strings' | 'leases' | 'heartbeat' | 'clockSamples' | 'changes' | 'damage'
>;

/** The record that each table's entries begin with. */
const SHAPES: Readonly<Record<TableClass, { kind: number; slots: number }>> = {
  communicators: { kind: Kind.Communicator, slots: format.COMMUNICATOR_SLOTS },
  strings: { kind: Kind.String, slots: format.STRING_SLOTS },
  leases: { kind: Kind.Lease, slots: format.LEASE_SLOTS },
  heartbeat: { kind: Kind.ClockSample, slots: format.CLOCK_SAMPLE_SLOTS },
  clock: { kind: Kind.ClockSample, slots: format.CLOCK_SAMPLE_SLOTS },
  control: { kind: Kind.ControlChange, slots: format.CONTROL_CHANGE_SLOTS },
};

export function readTables(
  { areas, lost: lostAreas }: Directory,
  reader: AreaReader,
  life: Life,
  problems: Problems,
): Tables {
  const lost = new Map<TableClass, number>();
  const read = (area: Area, table: TableClass): RecordColumns => {
    const { head, slots, records } = reader.table(area);
    const shape = { table, capacity: area.capacity, ...SHAPES[table], parts: MIN_PARTS[SHAPES[table].kind]! };
    lost.set(table, (lost.get(table) ?? 0) + lostEntries(shape, head, slots, records, problems));
    return records;
  };
  const all = (table: TableClass): Area[] => areas.filter((area) => area.table === table);
  const only = (table: TableClass): RecordColumns => {
    const [first, ...more] = all(table);
    problems.add(`further tables of ${table}, skipped`, more.length);
    return first === undefined ? concatenated([]) : read(first, table);
  };

  const rings = new Set(areas.filter((area) => area.ring !== null).map((area) => area.index));
  const heartbeats = readClockSamples(only('heartbeat'), problems);
  const samples = all('clock').flatMap((area) => readClockSamples(read(area, 'clock'), problems));
  const communicators = readCommunicators(only('communicators'), problems);
  const isHollow = life === 'closed' && heartbeats.length + samples.length + communicators.size === 0;
  if (isHollow)
    problems.add('closed without any heartbeat, clock sample or communicator: the file was damaged');
  return {
    communicators,
    strings: readStrings(only('strings'), problems),
    leases: readLeases(only('leases'), (index) => rings.has(index), problems),
    heartbeat: heartbeats.at(-1) ?? null,
    clockSamples: sortedSamples([...heartbeats, ...samples]),
    changes: readControlChanges(only('control'), reader.frame, problems),
    damage: {
      lostCommunicators: lost.get('communicators') ?? 0,
      lostEntries: [...lost.values()].reduce((sum, count) => sum + count, 0),
      cutAreas: areas.filter((area) => reader.isCut(area)).length,
      lostAreas,
      shortRings: 0,
      isHollow,
    },
  };
}
