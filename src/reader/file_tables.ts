/** The tables of one file: which area is which, and what they say together. */

import type { AreaReader } from './areas.js';
import type { Area, TableClass } from './directory.js';
import type { Problems } from './problems.js';
import {
  readBeacons,
  readClockSamples,
  readCommunicators,
  readControlChanges,
  readLeases,
  readStrings,
  sortedSamples,
  uniqueBeacons,
} from './tables.js';
import type { FileFacts, RecordColumns } from './types.js';

type Tables = Pick<
  FileFacts,
  'communicators' | 'strings' | 'leases' | 'heartbeat' | 'clockSamples' | 'beacons' | 'changes'
>;

export function readTables(areas: readonly Area[], reader: AreaReader, problems: Problems): Tables {
  const all = (table: TableClass): Area[] => areas.filter((area) => area.table === table);
  const only = (table: TableClass): RecordColumns => {
    const [first, ...more] = all(table);
    problems.add(`further tables of ${table}, skipped`, more.length);
    return first === undefined ? NO_RECORDS : reader.table(first);
  };

  const rings = new Set(areas.filter((area) => area.ring !== null).map((area) => area.index));
  const heartbeats = readClockSamples(only('heartbeat'), problems);
  const samples = all('clock').flatMap((area) => readClockSamples(reader.table(area), problems));
  return {
    communicators: readCommunicators(only('communicators'), problems),
    strings: readStrings(only('strings'), problems),
    leases: readLeases(only('leases'), (index) => rings.has(index), problems),
    heartbeat: heartbeats.at(-1) ?? null,
    clockSamples: sortedSamples([...heartbeats, ...samples]),
    beacons: uniqueBeacons(
      all('beacons').flatMap((area) => readBeacons(reader.table(area), reader.tickBase, problems)),
    ),
    changes: readControlChanges(only('control'), reader.tickBase, problems),
  };
}

export const NO_RECORDS: RecordColumns = {
  length: 0,
  position: new Float64Array(0),
  tick: new Float64Array(0),
  kind: new Uint8Array(0),
  word1Low: new Uint32Array(0),
  word1High: new Uint32Array(0),
  word2Low: new Uint32Array(0),
  word2High: new Uint32Array(0),
  extraStart: new Uint32Array(1),
  extra: new Uint32Array(0),
};
