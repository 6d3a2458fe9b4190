/** What a dead rank had not finished, and all others had, ends where its file ends. What all are stuck in stays open. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const sample = fileURLToPath(new URL('../../samples/dead-node', import.meta.url));
const folder = folderOfFile();

describe('the last work of a dead rank', async () => {
  const output = path.join(folder, 'dead.pftrace');
  await merge({ inputs: [sample], output, jobs: 1 });
  const { slices } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  const ofRank = (rank: number) => slices.filter(({ track }) => track.path[0]!.startsWith(`rank 000${rank}`));
  const END = 'end not recorded: the file ended before the other ranks finished it';

  it('ends with its file, and says why', () => {
    const [work] = ofRank(3).filter(({ name, args }) => name === 'AllReduce' && args.seq === 0);
    expect(work!.args.completion).toBe(END);
    expect(
      ofRank(3)
        .filter(({ dur }) => dur < 0n)
        .map(({ name }) => name),
    ).toEqual(['no records']);
    const parts = ofRank(3).filter(({ args }) => args.end === END);
    expect(parts.map(({ name }) => name).sort()).toEqual(['AllReduce kernel', 'proxy send', 'step', 'step']);
    for (const { ts, dur } of parts) expect(ts + dur).toBe(work!.ts + work!.dur);
  });

  it('counts as not recorded in what all ranks did', () => {
    const all = slices.filter(
      ({ name, track }) => track.path[0]!.startsWith('Cluster') && name?.startsWith('AllReduce'),
    );
    const over = all.filter(({ args }) => Number(args.seq) < 6);
    expect(over).toHaveLength(6);
    for (const { args, dur } of over) {
      expect(args.notRecorded).toMatch(/3$/);
      expect([args.open, args.notEntered]).toEqual([undefined, undefined]);
      expect(dur).toBeGreaterThan(0n);
    }
    const [hung] = all.filter(({ args }) => args.seq === 6);
    expect(hung!.args).toMatchObject({ open: '0,1', notEntered: '3' });
  });

  it('leaves open what the ranks are stuck in', () => {
    expect(
      ofRank(0).some(({ name, dur, args }) => name === 'AllReduce 6' && dur < 0n && args.seq === 6),
    ).toBe(true);
  });
});
