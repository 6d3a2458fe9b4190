/** `--run list`: which runs there are. Loaded when it is asked for. */

import { NoUsableInput } from '../base/errors.js';
import { foldRanks } from '../base/ranks.js';
import { cut } from '../report/text.js';
import { textTable } from '../report/text_table.js';
import { listRuns } from '../runs/find_runs.js';
import type { RunListing } from '../runs/run.js';
import { complain, print } from './streams.js';

/** All runs on the standard output, the newest first. False when its reader has gone. Throws NoUsableInput, RankFileError. */
export function printRuns(
  inputs: readonly string[],
  { json, redact }: { readonly json?: true; readonly redact?: true },
): Promise<boolean> {
  const { runs, problems } = listRuns(inputs, { redact });
  for (const problem of problems) complain(problem);
  if (runs.length === 0) throw new NoUsableInput('no rank file can be used');
  return print(json ? `${JSON.stringify({ version: 1, runs }, null, 2)}\n` : table(runs));
}

function table(runs: readonly RunListing[]): string {
  const titles = ['run', 'started (UTC)', 'last sign', 'files', 'ranks'];
  const rows = runs.map(({ name, started, lastSeen, files, ranks, worldSize }) => [
    name,
    started,
    duration(Date.parse(lastSeen) - Date.parse(started)),
    String(files.length),
    cut(`${foldRanks(ranks) || 'unknown'}${worldSize > ranks.length ? ` of ${worldSize}` : ''}`, 24),
  ]);
  return textTable(
    titles.map((title) => ({ title, isNumber: title === 'last sign' || title === 'files' })),
    rows,
  );
}

/** The time from the start to the last sign. */
function duration(ms: number): string {
  if (Number.isNaN(ms)) return 'unknown';
  return ms < 120e3 ? `+${(ms / 1e3).toFixed(0)} s` : `+${(ms / 60e3).toFixed(0)} min`;
}
