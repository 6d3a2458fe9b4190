/** Both readers on the header's numbers and on tables (agreement.ts). */

import { describe, expect, it } from 'vitest';

import { AreaClass, FILE_HEADER, Kind } from '../../src/rankfile/format/constants.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { SlotArea } from '../support/rank_files/slot_area.js';
import { agreedFacts, smallFile, withNumbers, withU32, liveOffset, upTo } from './agreement.js';

describe("a stranger's reader agrees with ours on header and tables", () => {
  it('numbers of the header that are unknown or cannot be true', () => {
    const whole = new RankFileBuilder().build();
    const { life, mode, placement, rank, worldSize, localRank } = FILE_HEADER;
    const unknown = [life, mode, placement].map((at) => withU32(whole, at, 9));
    const nobody = [rank, worldSize, localRank].map((at) => withU32(whole, at, 2 ** 32 - 7));
    expect(agreedFacts(...unknown, ...nobody).map(({ replaced }) => replaced)).toEqual([1, 1, 1, 0, 0, 0]);

    const copied = smallFile();
    const start = copied.startTick;
    const { maskNow, copiedTick, leasesLost, ioErrors } = FILE_HEADER;
    const most = { [maskNow]: 2n ** 32n, [leasesLost]: 2n ** 48n, [ioErrors]: 2n ** 48n };
    const counts = [maskNow, leasesLost, ioErrors].flatMap((at) =>
      [most[at] - 1n, most[at], 2n ** 64n - 1n].map((value) => [at, value] as const),
    );
    // 90 days of a counter of 1 GHz.
    const longest = 90n * 86_400n * 10n ** 9n;
    const ticks = [0n, 1n, start, start + longest, start + longest + 1n];
    const files = [...counts, ...ticks.map((tick) => [copiedTick, tick] as const)];
    expect(
      agreedFacts(...files.map((number) => withNumbers(copied.build(), number))).map(
        ({ replaced }) => replaced,
      ),
    ).toEqual([0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1]);
  });

  it('heads that cannot be true', () => {
    const whole = smallFile().build();
    const heads = [2n ** 48n - 1n, 2n ** 48n, 2n ** 63n];
    const files = heads.flatMap((head) =>
      [0, 1, 3, 5].map((area) => withNumbers(whole, [liveOffset(whole, area), head])),
    );
    const host = agreedFacts(...files).flatMap(({ rings }) => rings[0]?.head ?? []);
    expect(host.filter((head) => head === 0)).toHaveLength(2);
  });

  it('tables that there should be one of, heartbeats out of order, leases of no ring', () => {
    const file = smallFile().heartbeat(550);
    const late = new SlotArea(4, 'wraps');
    late.append(Kind.ClockSample, [file.rawTick(900), 1n, 2n, 3n, 4n, 0n]);
    file.area(AreaClass.TableHeartbeat, late);
    for (const ring of [2, 62, 1000]) file.lease({ ring, tid: 1 });
    const [facts] = agreedFacts(file.build());
    expect(facts?.heartbeat).toMatchObject({ tick: `${file.rawTick(550)}` });
    expect(facts).toMatchObject({ leasesOfNoRing: 3 });
    expect(facts?.leases).toHaveLength(2);
  });

  it('changes by control, older ones overwritten, and such as cannot be true', () => {
    const file = smallFile();
    const change = { tick: 50, done: 60, events: 0x1a, sampleEvery: 3 };
    file.changes(
      [
        { ...change, sampleEvery: 0 },
        { ...change, done: 49 },
        ...upTo(62).map((i) => ({ ...change, tick: 40 + i, done: 60 + 2 * i, events: i })),
      ],
      7,
    );
    const [facts] = agreedFacts(file.build());
    expect(facts?.changes).toHaveLength(62);
    expect(facts).toMatchObject({ impossibleChanges: 1, impossibleEntries: 1 });
  });

  it('kinds of tables in a ring, whole and too short', () => {
    const file = new RankFileBuilder();
    const ring = file.ring('host', 128);
    for (const kind of [
      Kind.ClockSample,
      Kind.Communicator,
      Kind.CommunicatorEnd,
      Kind.String,
      Kind.Lease,
      Kind.ControlChange,
    ])
      for (const slots of [1, 2, 4, 7])
        ring.record(kind, 10, ...Array.from({ length: 3 * slots - 1 }, () => 1n));
    const [facts] = agreedFacts(file.build());
    expect(facts?.rings[0]).toMatchObject({ records: 0, unknownKinds: 17, missing: { torn: 12 } });
  });
});
