/** A killed process leaves its rings in memory. All commands read its file together with them, as if they had been saved. */

import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { FILE_HEADER, Kind } from '../../src/rankfile/format/constants.js';
import { openRankFile } from '../../src/rankfile/index.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { record } from '../support/jobs/loopback.js';
import { type Puppet, startPuppet } from '../support/jobs/puppet.js';

let folder: string;
let job: Puppet | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-left-'));
});
afterEach(async () => {
  await job?.kill();
  job = undefined;
  rmSync(folder, { recursive: true });
});

const colls = (file: string): number =>
  openRankFile(file).rings.reduce(
    (sum, { records }) => sum + records.kind.filter((kind) => kind === Kind.StartColl).length,
    0,
  );

/** Changes one byte that the header's check covers. */
function damage(ringFile: string): void {
  const bytes = readFileSync(ringFile);
  bytes[FILE_HEADER.ringPath]! ^= 1;
  writeFileSync(ringFile, bytes);
}

describe.runIf(existsSync('/dev/shm')).each(['flight', 'stream'])('in %s mode', (mode) => {
  it('no record is missing right after SIGKILL; a copy of the file has only what the recorder had copied into it', async () => {
    const file = path.join(folder, 'run/rank00000.bin');
    const copy = path.join(folder, 'copy.bin');
    job = startPuppet({
      NCCL_TRACE_DIR: path.join(folder, 'run'),
      NCCL_TRACE_RING_DIR: '/dev/shm',
      NCCL_TRACE_RING_MB: '4',
      NCCL_TRACE_MODE: mode,
      RANK: '0',
    });
    await job.tell('coll 1');
    copyFileSync(file, copy);
    for (let said = 1; said < 1501; said += 500) await job.tell('coll 500');
    const { ringPath } = openRankFile(file).header;
    await job.kill();
    expect(colls(file)).toBe(1501);
    // merge first copies a file that may still be written.
    const { ranks } = await merge({ inputs: [file], output: path.join(folder, 'run.pftrace') });
    expect(ranks[0]).toMatchObject({ life: 'recording', problems: [] });
    expect(ranks[0]).not.toHaveProperty('ringCopyAge');
    expect(ranks[0]!.records).toBeGreaterThanOrEqual(2 * 1501);
    expect(colls(copy)).toBeLessThan(1501);
    // Another recorder may have saved them meanwhile.
    if (existsSync(ringPath)) {
      expect(openRankFile(file).header.placement).toBe('in-file');
      damage(ringPath);
      expect(openRankFile(file).header.placement).toBe('in-ring-file');
      unlinkSync(ringPath);
    }
  });
});

it.runIf(existsSync('/dev/shm'))(
  'a job whose ranks were all killed at once is BROKEN OFF, not at work',
  async () => {
    const args = '--ranks 3 --iterations 40 --ops allreduce:1M --fault kill:all@20:2 --hang-seconds 1';
    const { folder: recording } = await record(path.join(folder, 'run'), args, {
      NCCL_TRACE_RING_DIR: '/dev/shm',
    });
    const { verdict } = await diagnose([recording]);
    for (const name of readdirSync(recording).filter((file) => file.endsWith('.bin')))
      rmSync(openRankFile(path.join(recording, name)).header.ringPath, { force: true });
    expect(verdict).toMatchObject({
      kind: 'broken',
      broken: {
        stall: { func: 'AllReduce', seq: 20 },
        gone: [{ file: 0 }, { file: 1 }, { file: 2 }],
        left: [],
      },
    });
  },
);
