/** Joins the two ends of transfers: which pairs count if the work of an operation is known, lost or different. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STEP_ROW, SIZE_LOST } from '../../../src/scan/step_file.js';
import {
  joinTransfers,
  linksBetween,
  type StepSource,
} from '../../../src/clocks/evidence/joined_transfers.js';
import { writeSteps } from '../../support/made_up/step_rows.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

/** An operation of two steps in the file of one end. `work` null: its record is lost. `ordinal`: default is its place in the list. */
interface EndOp {
  readonly work: number | null;
  readonly bytes?: number;
  readonly steps?: number;
  readonly ordinal?: number;
}

const folder = folderOfFile();

let files = 0;
const source = (isSend: boolean, ops: readonly EndOp[]): StepSource =>
  writeSteps(
    join(folder, `steps-${files++}`),
    isSend,
    ops.flatMap(({ work, bytes = 4096, steps = 2, ordinal }, place) =>
      [0, 1].map((step) => ({ ordinal: ordinal ?? place, step, bytes, check: work ?? 0, steps })),
    ),
  );

/** The label of each operation. Both of its steps must have it. */
function judged(sends: readonly EndOp[], receives: readonly EndOp[]) {
  const sources = [source(true, sends), source(false, receives)];
  const said = new Map<number, string[]>();
  const counts = joinTransfers(
    sources,
    linksBetween(sources, () => true),
    (_, send, receive, agreement) => {
      expect(send[STEP_ROW.step]).toBe(receive[STEP_ROW.step]);
      const ordinal = send[STEP_ROW.ordinal]!;
      said.set(ordinal, [...(said.get(ordinal) ?? []), agreement]);
    },
  );
  for (const one of said.values()) expect(one).toEqual([one[0], one[0]]);
  const labels = [...said].sort(([a], [b]) => a - b).map(([ordinal, [label]]) => `${ordinal} ${label}`);
  return { labels, counts };
}

const known = (...works: (number | null)[]): EndOp[] => works.map((work) => ({ work }));

it('a pair with lost work counts if the operations before and after it agree', () => {
  const { labels, counts } = judged(known(1, null, 3, 4, null), known(1, 2, null, 4, 5));
  expect(labels).toEqual(['0 agree', '1 agree', '2 agree', '3 agree', '4 unconfirmed']);
  expect(counts).toMatchObject({ pairs: 8, unconfirmed: 2, operationsDiffer: 0, single: 0 });
});

it('a pair with lost work does not count before the first operation that agrees', () => {
  expect(judged(known(null, 2, null, 4), known(1, 2, 3, 4)).labels).toEqual([
    '0 unconfirmed',
    '1 agree',
    '2 agree',
    '3 agree',
  ]);
});

it('a pair with lost work does not count beside operations that differ, because the ends may number them differently', () => {
  const sends = known(1, null, 3, null, 5, null, 7);
  const receives = known(1, 2, 99, 4, 5, 6, 7);
  expect(judged(sends, receives).labels).toEqual([
    '0 agree',
    '1 unconfirmed',
    '2 operationsDiffer',
    '3 unconfirmed',
    '4 agree',
    '5 agree',
    '6 agree',
  ]);
});

it('a pair with lost work does not count if sizes or numbers of steps differ', () => {
  const ends = (own: Partial<EndOp>): EndOp[] => [{ work: 1 }, { work: null, ...own }, { work: 3 }];
  expect(judged(ends({}), ends({})).counts).toMatchObject({ pairs: 6, unconfirmed: 0 });
  expect(judged(ends({}), ends({ bytes: 8 })).counts).toMatchObject({ pairs: 4, unconfirmed: 2 });
  expect(judged(ends({}), ends({ steps: 3 })).counts).toMatchObject({ pairs: 4, unconfirmed: 2 });
});

it('a pair does not count if the sender has lost the size, and its neighbours are not affected', () => {
  const sends: EndOp[] = [{ work: 1 }, { work: 2, bytes: SIZE_LOST }, { work: null }, { work: 4 }];
  const { labels, counts } = judged(sends, known(1, 2, 3, 4));
  expect(labels).toEqual(['0 agree', '1 sizeLost', '2 agree', '3 agree']);
  expect(counts).toMatchObject({ pairs: 6, sizeLost: 2 });
});

it('a pair with lost work counts also if operations in between are missing or come late', () => {
  const sends: EndOp[] = [
    { work: 1, ordinal: 1 },
    { work: 9, ordinal: 9 },
    { work: null, ordinal: 4 },
    { work: 7, ordinal: 7 },
  ];
  const receives = [1, 4, 7, 9].map((ordinal): EndOp => ({ work: ordinal, ordinal }));
  expect(judged(sends, receives).labels).toEqual(['1 agree', '4 agree', '7 agree', '9 agree']);
});
