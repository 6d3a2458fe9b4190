/** Damaged samples: what the verdict says about them, and what it does not claim. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';

import { AreaClass, FILE_HEADER, Kind, STRING_LOST } from '../../src/rankfile/format/constants.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { word3 } from '../support/rank_files/slot_area.js';

const samples = path.resolve(import.meta.dirname, '../../samples');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Area {
  readonly areaClass: number;
  readonly capacity: number;
  readonly slots: number;
}

function areasOf(view: DataView): Area[] {
  const directory = Number(view.getBigUint64(FILE_HEADER.directoryOffset, true));
  return Array.from({ length: view.getUint32(FILE_HEADER.areaCount, true) }, (_, index) => {
    const at = directory + 64 * index;
    const slots = Number(view.getBigUint64(at + 24, true));
    return { areaClass: view.getUint32(at, true), capacity: view.getUint32(at + 4, true), slots };
  });
}

/** A copy of the sample in which the files that match `which` are changed. */
function damaged(sample: string, which: RegExp, change: (file: string, bytes: Uint8Array) => void): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-damage-'));
  folders.push(folder);
  for (const name of readdirSync(path.join(samples, sample)).filter((one) => one.endsWith('.bin'))) {
    const file = path.join(folder, name);
    cpSync(path.join(samples, sample, name), file);
    if (which.test(name)) change(file, readFileSync(file));
  }
  return folder;
}

const flipIn = (areaClass: number) => (file: string, bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const table = areasOf(view).find((area) => area.areaClass === areaClass)!;
  bytes[table.slots + 5]! ^= 1;
  writeFileSync(file, bytes);
};

it('one flipped bit in each table of communicators does not make a hang disappear', async () => {
  const { verdict, ranks } = await diagnose([damaged('hang', /./, flipIn(AreaClass.TableCommunicators))]);
  // The communicators are not known, but the rank that was killed is.
  expect(verdict).toMatchObject({ kind: 'hung', hang: { silent: [{ file: 2 }] } });
  expect(verdict).toMatchObject({ lostEntries: 3, unknownComms: { works: 9, files: [0, 1, 2] } });
  for (const { problems } of ranks)
    expect(problems).toEqual([
      'torn slots in the table of communicators',
      'entries of the table of communicators that are missing or incomplete',
    ]);
});

it.each(['leases', 'heartbeat', 'strings'] as const)(
  'a flipped bit in the table of %s is reported',
  async (table) => {
    const areaClass = {
      leases: AreaClass.TableLeases,
      heartbeat: AreaClass.TableHeartbeat,
      strings: AreaClass.TableStrings,
    }[table];
    const { verdict, ranks } = await diagnose([damaged('healthy', /00003/, flipIn(areaClass))]);
    expect(verdict).toMatchObject({ kind: 'healthy', lostEntries: 1 });
    expect(ranks[3]!.problems).toContain(`torn slots in the table of ${table}`);
  },
);

it('a function with a lost name is not called different from another', async () => {
  const folder = damaged('healthy', /00003/, (file, bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const { areaClass, capacity, slots } of areasOf(view)) {
      if (areaClass !== AreaClass.RingHost) continue;
      for (let at = slots; at < slots + capacity * 32; at += 32) {
        const word = (number: number): bigint => view.getBigUint64(at + 8 * number, true);
        const meta = Number(word(3) & 0xffffn);
        if ((meta & 0xfff) !== (Kind.StartColl | 0x100)) continue;
        const payload = [word(0), word(1), word(2) | BigInt(STRING_LOST)];
        view.setBigUint64(at + 16, payload[2]!, true);
        const position = Number((word(3) >> 16n) & 0xffffffn);
        view.setBigUint64(at + 24, word3(payload, Kind.StartColl, 1, meta >>> 12, position), true);
      }
    }
    writeFileSync(file, bytes);
  });
  const { verdict } = await diagnose([folder]);
  expect(verdict.kind).toBe('healthy');
  expect(verdict.seen.collectives).toBe(10);
});

it.each([
  ['hang', /./, 180_000],
  ['healthy', /00003/, 90_000],
  ['healthy', /00003/, 30_000],
] as const)('%s, cut short: nothing is claimed beyond what is there', async (sample, which, bytes) => {
  const folder = damaged(sample, which, (file) => {
    truncateSync(file, bytes);
  });
  const { verdict } = await diagnose([folder]);
  expect(verdict.kind).toBe('unclear');
  expect(verdict.damaged).toEqual(sample === 'hang' ? [0, 1, 2] : [3]);
});

it('a closed file of zeros behind its directory is not healthy', async () => {
  const folder = damaged('healthy', /00003/, (file, bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const directory = Number(view.getBigUint64(FILE_HEADER.directoryOffset, true));
    bytes.fill(0, directory + 64 * areasOf(view).length);
    writeFileSync(file, bytes);
  });
  const { verdict, ranks } = await diagnose([folder]);
  expect(verdict).toMatchObject({ kind: 'unclear', damaged: [3] });
  expect(ranks[3]!.problems).toContain(
    'closed without any heartbeat, clock sample or communicator: the file was damaged',
  );
});

const PAGE = 4096;

const zeroed = (pages: readonly number[]) => (file: string, bytes: Uint8Array) => {
  for (const page of pages) bytes.fill(0, page, page + PAGE);
  writeFileSync(file, bytes);
};

it('a directory and heartbeats of zeros are lost records, and make no rank silent', async () => {
  const folder = damaged('dead-node', /rank00001/, zeroed([0x1000, 0x5000, 0x6000, 0x8000]));
  const said = verdictText(await diagnose([folder], { hungAfter: 2 }));
  expect(said[0]).toBe('HUNG  AllReduce seq 6 on world (4 ranks): 2 ranks (2-3) fell silent');
  expect(said).toContain('  lost records:   parts of 1 file');
});

it('a tie between the two ranks that can still be compared accuses nobody', async () => {
  const folder = damaged('mismatch', /rank00000/, zeroed([0x1f000, 0x20000, 0x22000, 0x23000, 0x24000]));
  const diagnosis = await diagnose([folder], { hungAfter: 2 });
  expect(diagnosis.verdict).toMatchObject({ kind: 'hung', hang: { different: [], silent: [] } });
  expect(suspects(diagnosis.verdict)).toEqual([]);
  expect(diagnosis.verdict.findings[0]).toMatchObject({ who: { degree: 'nobody known', files: [] } });
  const said = verdictText(diagnosis);
  expect(said[0]).toMatch(/^HUNG {2}AllReduce seq 2 on world \(3 ranks\) {2}since /);
  expect(said).toContain('  lost records:   parts of 1 file');
});

it('a page of zeros within a ring is counted as lost slots', async () => {
  const inSteps = (file: string, bytes: Uint8Array): void => {
    const { slots } = areasOf(new DataView(bytes.buffer, bytes.byteOffset, bytes.length)).find(
      ({ areaClass }) => areaClass === AreaClass.RingSteps,
    )!;
    bytes.fill(0, slots + PAGE, slots + 2 * PAGE);
    writeFileSync(file, bytes);
  };
  const { ranks } = await diagnose([damaged('healthy', /rank00000/, inSteps)]);
  const { overwritten, dropped, torn, copy } = ranks[0]!.lost;
  expect(overwritten + dropped + torn + copy).toBe(PAGE / 32);
});

it('a header of another process is refused', async () => {
  const folder = damaged('healthy', /rank0000[56]/, () => undefined);
  const [five, six] = [5, 6].map((rank) => path.join(folder, `rank0000${rank}.bin`)) as [string, string];
  const [ofFive, ofSix] = [readFileSync(five), readFileSync(six)];
  writeFileSync(five, Buffer.concat([ofSix.subarray(0, PAGE), ofFive.subarray(PAGE)]));
  writeFileSync(six, Buffer.concat([ofFive.subarray(0, PAGE), ofSix.subarray(PAGE)]));
  const diagnosis = await diagnose([folder]);
  expect(diagnosis.unusable).toHaveLength(2);
  for (const sentence of diagnosis.unusable)
    expect(sentence).toMatch(/its header is of another process than its records .*; copy the file again$/);
  expect(verdictText(diagnosis)[0]).toBe('HEALTHY  nothing unfinished was seen, but 2 files cannot be used');
});
