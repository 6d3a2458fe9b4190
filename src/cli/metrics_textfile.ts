/** `metrics --textfile`: the metrics as a file for node_exporter. Metrics of the window before are replaced, and no file of another kind. */

import { existsSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { checkOutput, type Output } from '../output/allowed.js';
import { deliver, withWorkFolderFor } from '../output/deliver.js';
import { beginsWith } from '../output/file_start.js';

const PERMISSION = { force: true, inputs: [] } as const;

/** Throws OutputError. */
export function checkTextfile(path: string): void {
  checkOutput(textfileAt(path), PERMISSION);
}

/** Written whole or not at all: node_exporter may read at any time. Throws OutputError. */
export async function writeTextfile(path: string, bytes: Buffer): Promise<void> {
  const output = textfileAt(path);
  const place = checkOutput(output, PERMISSION);
  await withWorkFolderFor(place, undefined, (folder) =>
    deliver({ output, place, permission: PERMISSION }, folder, Readable.from([bytes])),
  );
}

/** node_exporter shows a file for as long as it is there: a hang that is long over would page for ever. Throws the system's own errors. */
export function removeTextfile(path: string): void {
  if (existsSync(path) && isTextfile(path)) rmSync(path);
}

const textfileAt = (path: string): Output => ({
  path,
  // node_exporter is another user.
  kind: { name: 'metrics', option: '--textfile nccl_trace.prom', mode: 0o644, wrote: isTextfile },
});

const TEXT_START = '# HELP nccl_trace_';

const isTextfile = (path: string): boolean => beginsWith(path, TEXT_START);
