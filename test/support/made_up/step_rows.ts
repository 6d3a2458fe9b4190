/** Made-up side files of a scan: the steps of one end of a connection between two ranks. */

import { writeFileSync } from 'node:fs';
import { inOrder, ROW_WIDTH, STEP_ROW, type StepRows } from '../../../src/scan/step_file.js';
import type { StepSource } from '../../../src/clocks/evidence/joined_transfers.js';

/** Columns that are not given are 0. */
export type MadeUpStep = Partial<Record<keyof typeof STEP_ROW, number>>;

export function writeSteps(path: string, isSend: boolean, steps: readonly MadeUpStep[]): StepSource {
  const rows = new Float64Array(steps.length * ROW_WIDTH);
  steps.forEach((step, i) => {
    for (const [column, value] of Object.entries(step))
      rows[i * ROW_WIDTH + STEP_ROW[column as keyof typeof STEP_ROW]] = value;
  });
  writeFileSync(path, inOrder(rows));
  const end: StepRows = {
    commId: 5n,
    channel: 0,
    source: 0,
    destination: 1,
    isSend,
    rows: steps.length,
    offset: 0,
    halved: [0, 0],
    sampledOut: 0,
  };
  return { path, connections: [end] };
}
