/** Recorded in flight mode, the two files of a connection hold different parts of the run. Every pair of rows that both have is found. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanFile } from '../../../src/scan/scan.js';
import { ROW_WIDTH, STEP_ROW, type StepRows } from '../../../src/scan/step_file.js';
import {
  joinTransfers,
  linksBetween,
  type StepSource,
} from '../../../src/clocks/evidence/joined_transfers.js';
import { record } from '../../support/jobs/loopback.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

/** All steps of one end, by operation and step. */
function stepsIn({ path }: StepSource, { offset, rows: count }: StepRows): Set<string> {
  const bytes = readFileSync(path);
  const rows = new Float64Array(bytes.buffer.slice(bytes.byteOffset + offset), 0, count * ROW_WIDTH);
  return new Set(
    Array.from(
      { length: count },
      (_, row) => `${rows[row * ROW_WIDTH + STEP_ROW.ordinal]} ${rows[row * ROW_WIDTH + STEP_ROW.step]}`,
    ),
  );
}

it('flight mode gives all pairs that two files share, even if ranks send and receive different amounts', async () => {
  // A broadcast goes down a chain. Its ends record half as much as the rank between, so their rings reach back twice as far.
  const args = '--ranks 3 --channels 1 --iterations 24 --proto ll --ops broadcast:4M*8,allreduce:64K';
  const source = (await record(join(folder, 'flight'), args, { NCCL_ALLGATHERV_ENABLE: '0' })).folder;
  const names = readdirSync(source).filter((name) => name.endsWith('.bin'));
  const sources = names.sort().map((name, i): StepSource => {
    const path = join(folder, `side-${i}`);
    return { path, connections: scanFile(join(source, name), { path, every: true }).steps };
  });
  const links = linksBetween(sources, () => true);
  expect(links).toHaveLength(3);
  let common = 0;
  let mostApart = 0;
  for (const { sender, receiver, sends, receives } of links) {
    const received = stepsIn(sources[receiver]!, receives);
    for (const step of stepsIn(sources[sender]!, sends)) if (received.has(step)) common++;
    mostApart = Math.max(mostApart, Math.abs(sends.rows - receives.rows));
  }
  expect(mostApart).toBeGreaterThan(4096);
  const { single, ...joined } = joinTransfers(sources, links, () => undefined);
  expect(Object.values(joined).reduce((a, b) => a + b)).toBe(common);
  expect(single).toBe(
    links.reduce((sum, { sends, receives }) => sum + sends.rows + receives.rows, 0) - 2 * common,
  );
});
