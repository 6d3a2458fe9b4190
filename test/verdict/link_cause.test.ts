/** What a verdict says about the cause of a slow link, in one line. */

import { expect, it } from 'vitest';
import type { Cause } from '../../src/analysis/causes.js';
import type { SlowLinks } from '../../src/analysis/slow_link_causes.js';
import { linkCause } from '../../src/report/link_cause.js';
import { COLUMNS, labelled } from '../../src/report/verdict_phrases.js';

const links = (one: Partial<SlowLinks>): Cause => ({
  ...{ cause: 'slow link', rank: 1, host: null, ends: [1, 2], links: [0], slowPairs: 1, pairs: 3, ratio: 9 },
  ...{ by: 'send', transfers: 99, channel: null, cannotTell: null, view: [0, 1], costNs: 1e6, says: '' },
  ...one,
});
const thread = {
  cause: 'starved proxy thread',
  rank: 2,
  waitNs: 1,
  usualNs: 1,
  transfers: 1,
  like: 3,
} as unknown as Cause;

/** Of a link from rank 1 to rank 2. */
const said = (...causes: Cause[]): string | null => {
  const found = linkCause({ causes, ranks: [0, 1, 2, 3] }, { file: 1, peerFile: 2 });
  return (
    found &&
    labelled(found.isSure ? 'cause' : 'may be', found.says)
      .trim()
      .replace(/ +/g, ' ')
  );
};

it('names the link, the NIC, the channel, the host or the proxy thread', () => {
  expect(said(links({}))).toBe("cause: the link to rank 2: rank 1's other links are not slow");
  expect(said(links({ cannotTell: 'link or NIC' }))).toBe(
    'may be: the link or the NIC: rank 1 sends over no other link',
  );
  expect(said(links({ cause: 'slow NIC' }))).toBe('cause: the NIC of rank 1: all its 3 links are slow');
  expect(said(links({ cause: 'thin channel', channel: 4 }))).toBe(
    'cause: channel 4 alone: the other channels there are not slow',
  );
  expect(said(links({ cause: 'slow node', rank: null, host: 'node7' }))).toBe(
    'cause: host node7: all 3 links are slow',
  );
});

it('a proxy thread without CPU time comes before the links that it makes slow', () => {
  expect(said(links({ cause: 'slow NIC' }), thread)).toBe(
    'cause: the proxy thread of rank 2 gets too little CPU time',
  );
});

it('is silent about the links of other ranks, and fits into a line', () => {
  expect(said()).toBeNull();
  expect(said(links({ rank: 3, ends: [3, 0] }))).toBeNull();
  for (const cannotTell of ['link or NIC', 'NIC or proxy thread', 'link, NIC or proxy thread', null] as const)
    for (const cause of ['slow link', 'slow NIC', 'slow node', 'thin channel'] as const) {
      const found = linkCause(
        {
          causes: [
            links({
              cause,
              cannotTell,
              channel: 31,
              rank: 1234,
              ends: [1234, 1235],
              host: 'h'.repeat(60),
              pairs: 2047,
            }),
          ],
          ranks: [1234, 1235],
        },
        { file: 0, peerFile: 1 },
      );
      expect(labelled('may be', found!.says).length).toBeLessThanOrEqual(COLUMNS);
    }
});
