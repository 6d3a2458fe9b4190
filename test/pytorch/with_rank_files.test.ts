/** Dumps beside rank files: they name the group and the Python line of what our verdict calls stuck, in verdict, report, page and trace. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { diagnose, type Diagnosis } from '../../src/report/diagnosis.js';
import { examine } from '../../src/report/examine.js';
import { traceTexts } from '../../src/report/headline.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { runHere } from '../support/program/command_line.js';
import { writeDumps, type MadeUpCall } from '../support/made_up/flight_dumps.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const hang = path.join(root, 'samples/hang');
const folder = folderOfFile();

/** The sample hangs in its third AllReduce on "world"; PyTorch would count it as the group's third collective. */
const FRAMES = [{ name: 'train_step', filename: '/job/train.py', line: 88 }];
const allReduce = (seq: number, state: MadeUpCall['state'] = 'completed'): MadeUpCall => ({
  ...{ group: 'world', seq, op: 'all_reduce', state, frames: FRAMES },
});
const waiting = [allReduce(1), allReduce(2), allReduce(3, 'scheduled')];
let dumps = '';
let found: Diagnosis;

beforeAll(async () => {
  dumps = writeDumps(path.join(folder, 'dumps'), {
    groups: { world: [0, 1, 2, 3], other: [0, 1, 2, 3], pair: [0, 2] },
    calls: [waiting, waiting, waiting, null],
  });
  found = await diagnose([hang], { jobs: 1, flightRecorder: dumps });
});

describe('dumps beside rank files', () => {
  it('are matched with the stuck collective', () => {
    expect(found.flightRecorder?.matched).toMatchObject({
      ...{
        group: 'world',
        description: 'world_GROUP',
        seq: 3,
        op: 'all_reduce',
        agreed: 2,
        of: 2,
        alsoFit: 0,
      },
      stacks: [{ ranks: [0, 2], frames: [{ name: 'train_step', file: '/job/train.py', line: 88 }] }],
    });
    const lines = verdictText(found);
    expect(lines).toContain('  process group:  world world_GROUP, its all_reduce 3 (2 of 2 dumps)');
    expect(lines).toContain('  called from:    2 ranks (0,2): train_step train.py:88');
  });

  it('change nothing else in the verdict', async () => {
    const without = await diagnose([hang], { jobs: 1 });
    expect(without.flightRecorder).toBeNull();
    expect(without.verdict).toEqual(found.verdict);
    const added = verdictText(found).filter((line) => !verdictText(without).includes(line));
    expect(added).toHaveLength(2);
  });

  it('are arguments of the collective in the trace', async () => {
    const output = path.join(folder, 'hang.pftrace');
    await merge({ inputs: [hang], output, jobs: 1, texts: traceTexts, flightRecorder: dumps });
    const slices = viewTrace(readFileSync(output), { emptySlices: 'fine' }).slices.filter(
      ({ args }) => 'processGroup' in args,
    );
    expect(slices).toHaveLength(1);
    expect(slices[0]!.args).toMatchObject({
      seq: 2,
      processGroup: 'world',
      processGroupDescription: 'world_GROUP',
      pytorchCall: 'all_reduce 3',
      pythonStack1: '2 ranks (0,2): train_step (/job/train.py:88)',
    });
  });

  it('are part of the report, and hidden by --redact', async () => {
    const { report } = await examine([hang], { jobs: 1, flightRecorder: dumps });
    expect(report.flightRecorder?.files.map(({ rank }) => rank)).toEqual([0, 1, 2]);
    const hidden = await examine([hang], { jobs: 1, flightRecorder: dumps, redact: true });
    const text = JSON.stringify(hidden.report);
    for (const word of ['train_step', 'train.py', 'world_GROUP', dumps]) expect(text).not.toContain(word);
    expect(hidden.report.flightRecorder?.matched).toMatchObject({ group: 'group-1', seq: 3, agreed: 2 });
  });

  it('have a verdict of their own where there are no rank files', async () => {
    const { code, out } = await runHere(root, 'inspect', '--flight-recorder', dumps);
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      'PENDING  all_reduce 3 of group world world_GROUP: rank 3 left no dump: look there first',
    ]);
    const json = await runHere(root, 'inspect', '--flight-recorder', dumps, '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      flightRecorder: { verdict: { kind: 'pending', withoutDump: [3] }, matched: null },
    });
  });

  it('given as a path: the error names the option', async () => {
    for (const given of [dumps, path.join(dumps, 'nccl_trace_rank_0')]) {
      const { code, err } = await runHere(root, 'inspect', given);
      expect(code).toBe(3);
      expect(err).toMatch(
        /is a dump of PyTorch's Flight Recorder.*; name the folder of the dumps with --flight-recorder$/m,
      );
      expect(err).not.toContain('expected 8e');
    }
  });

  it('are asked for by name where there are none', async () => {
    expect(await runHere(root, 'inspect')).toMatchObject({ code: 2 });
    const { code, err } = await runHere(root, 'inspect', '--flight-recorder', hang);
    expect(code).toBe(2);
    expect(err).toContain("holds no dump of PyTorch's Flight Recorder");
  });
});
