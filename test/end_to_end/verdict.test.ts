/** What the loopback does wrong on request, the verdict finds: recorded by the real plugin, read from its files alone. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { verdictText } from '../../src/cli/verdict_text.js';
import { diagnose } from '../../src/merge/diagnosis.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { record } from '../support/loopback.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);

async function verdictOn(name: string, words: string) {
  mkdirSync(join(folder, name));
  const { folder: recording, code } = await record(join(folder, name), words);
  const diagnosis = await diagnose([recording]);
  return { code, verdict: diagnosis.verdict, text: verdictText(diagnosis).join('\n') };
}

describe('the verdict on', () => {
  it('a rank that skips a collective: never entered, and its neighbours wait for it', async () => {
    const { code, verdict, text } = await verdictOn(
      'skip',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --skip-rank 3 --skip-at 1 --hang-seconds 2.5',
    );
    expect(code).toBe(4);
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: {
        comm: 'world',
        func: 'AllReduce',
        seq: 1,
        neverEntered: [{ file: 3, standsIn: null }],
        waiting: [0, 1, 2],
        front: { peerFile: 3, peerInComm: 3, done: 0 },
        missing: [],
        alsoHung: [],
      },
    });
    expect(text).toContain('\n  never entered: rank 3 on ');
  });

  it('a rank that was killed: no sign of life, and who waits for its data', async () => {
    const { code, verdict, text } = await verdictOn(
      'kill',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --kill-rank 2 --kill-at 1:5 --hang-seconds 4',
    );
    expect(code).toBe(4);
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { func: 'AllReduce', seq: 1, neverEntered: [], waiting: [0, 1, 2, 3] },
    });
    if (verdict.kind !== 'hung') return;
    expect(verdict.hang.front?.peerFile).toBe(2);
    expect(verdict.hang.silent.map(({ file }) => file)).toContain(2);
    expect(text).toContain('\n  no sign of life: ');
  });

  it('one group of four in which a rank is missing: the world only waits for it', async () => {
    const { verdict } = await verdictOn(
      'groups',
      '--ranks 8 --groups tp=4 --ops allreduce@tp:256K*2,allreduce:1M --iterations 3 --skip-rank 5 --skip-at 1 --hang-seconds 2.5',
    );
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { comm: 'tp', nRanks: 4, neverEntered: [{ file: 5 }], alsoHung: [{ comm: 'world', seq: 1 }] },
    });
  });

  it('a rank that comes late every time: slow', async () => {
    const { code, verdict } = await verdictOn(
      'slow',
      '--ranks 3 --ops allreduce:256K --iterations 8 --slow-rank 1 --slow-us 60000',
    );
    expect(code).toBe(0);
    expect(verdict).toMatchObject({ kind: 'slow', slow: { comm: 'world', file: 1, of: 7 } });
  });

  it('a run that went well: no alarm', async () => {
    const { code, verdict } = await verdictOn('healthy', '--ranks 4 --ops allreduce:1M --iterations 3');
    expect({ code, verdict }).toEqual({
      code: 0,
      verdict: { kind: 'healthy', untold: 0, partial: [], lateness: true },
    });
  });
});
