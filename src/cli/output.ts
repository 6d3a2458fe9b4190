/** The names of outputs, and the summary of a merge. */

import { Readable } from 'node:stream';
import { OutputError } from '../base/errors.js';
import { checkTraceName } from '../merge.js';
import { OUTPUT_KINDS, SUMMARY, TRACE } from '../trace/output_kinds.js';
import { checkOutput, checkOutputs, type Output, type Permission } from '../output/allowed.js';
import { deliver, withWorkFolderFor } from '../output/deliver.js';
import { STDOUT } from '../output/place.js';
import { reason } from '../base/reason.js';
import { print } from './streams.js';

/** Checks the names of outputs early, so that nothing fails after the trace has been written. `inputs`: files that are read. */
export function checkNames(
  { output, summary, force }: { output: string; summary?: string | undefined; force?: boolean | undefined },
  inputs: readonly string[],
): void {
  checkTraceName(output);
  const outputs = [{ path: output, kind: TRACE }, ...(summary === undefined ? [] : [summaryAt(summary)])];
  checkOutputs(outputs, permission(force, inputs));
}

const summaryAt = (path: string): Output => ({ path, kind: SUMMARY });

export const permission = (force: boolean | undefined, inputs: readonly string[]): Permission => ({
  force: force ?? false,
  inputs,
  others: OUTPUT_KINDS,
});

/** Writes JSON. A file is written as a whole or not at all. */
export async function writeSummary(
  path: string,
  value: unknown,
  { force, inputs }: { force?: boolean | undefined; inputs: readonly string[] },
): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (path === STDOUT) {
    await print(text);
    return;
  }
  const asked = { output: summaryAt(path), permission: permission(force, inputs) };
  try {
    const place = checkOutput(asked.output, asked.permission);
    await withWorkFolderFor(place, undefined, (folder) =>
      deliver({ ...asked, place, stdout: process.stdout }, folder, Readable.from([Buffer.from(text)])),
    );
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(path, reason(error), 'the trace itself was written', { cause: error });
  }
}
