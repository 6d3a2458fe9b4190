/** Known bugs of NCCL: told where the symptom is found and the versions fit, and never without the symptom. */

import { describe, expect, it } from 'vitest';
import { verdictText } from '../../src/report/verdict_text.js';
import { judge } from '../../src/verdict/judge.js';
import { KNOWN_BUGS } from '../../src/verdict/known_bugs.js';
import { done, evidence, open, type MadeUpCall, type MadeUpRank } from './evidence.js';
import { report } from './report.js';

const inside: MadeUpCall = { ...open(1, 10), unhanded: { channels: 1, of: 4 } };

/** Lines about bugs if rank 1 did `last` and the others wait. */
function told(more: Partial<MadeUpRank>, last: MadeUpCall): string[] {
  const ranks = [0, 1, 2].map((rank) => ({ calls: [done(0, 1), rank === 1 ? last : open(1, 10)], ...more }));
  const said = verdictText(report(judge(evidence(ranks, { end: 60 })), 3))
    .join(' ')
    .replace(/ +/g, ' ');
  return (
    said.match(/NCCL [^ ]*( or [^ ]*)?( on [^ ]*)? (may )?ha[^ ]+ a bug with these symptoms[^)]*\)/g) ?? []
  );
}

describe('a known bug', () => {
  it('is told with the release that mended it and its source, where all versions that it may be have it', () => {
    const [first, second] = told({ on: 'aarch64', abi: 5 }, inside);
    expect(first).toBe(
      'NCCL 2.28 on aarch64 has a bug with these symptoms, fixed in 2.29.3 (https://github.com/NVIDIA/nccl/releases/tag/v2.29.3-1)',
    );
    expect(second).toContain('NCCL 2.28 may have a bug with these symptoms, fixed in 2.28.9');
  });

  it('may be it, where only some of these versions have it', () => {
    expect(told({ on: 'aarch64', abi: 6 }, inside).join()).toContain('NCCL 2.29 or 2.30 on aarch64 may have');
  });

  it.each([
    ['2.28.3', ['NCCL 2.28.3 on aarch64 has', 'NCCL 2.28.3 has']],
    ['2.28.9', ['NCCL 2.28.9 on aarch64 has']],
    ['2.30.7, of another NCCL in the process', ['NCCL 2.28 on aarch64 has', 'NCCL 2.28 may have']],
  ])('is told of the exact version where it is known: %s', (nccl, begins) => {
    const said = told({ on: 'aarch64', abi: 5, nccl: nccl.split(',')[0]! }, inside);
    expect(said.map((line, i) => line.slice(0, begins[i]?.length))).toEqual(begins);
  });

  it.each<[string, Partial<MadeUpRank>, MadeUpCall]>([
    ['in a patch level that is mended', { on: 'aarch64', abi: 6, nccl: '2.29.3' }, inside],
    ['without the symptom', { on: 'aarch64', abi: 5 }, open(1, 10)],
    ['on another processor', { on: 'x86-64', abi: 6 }, inside],
    ['if the processor is not known', { abi: 6 }, inside],
    ['in a version that is mended', { on: 'aarch64', abi: 7 }, inside],
  ])('is not told %s', (_, more, last) => {
    expect(told(more, last)).toEqual([]);
  });
});

it.each(KNOWN_BUGS.map((bug) => [bug.source, bug] as const))('the row of %s is well formed', (_, bug) => {
  expect(bug.source).toMatch(
    /^https:\/\/github\.com\/NVIDIA\/nccl\/(releases\/tag\/v[\d.]+-1|issues\/\d+|commit\/[0-9a-f]{7})$/,
  );
  for (const version of [bug.from, bug.before])
    if (version !== null) expect(version).toMatch(/^2\.\d\d(\.\d+)?$/);
  expect(bug.from === null && bug.before === null).toBe(false);
  expect(bug.what).toMatch(/^[A-Z].*\.$/);
});
