/** What the tests of examples/slurm and examples/kubernetes share: rank files on the disks of nodes, and the command under its name. */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectFile } from '../../../src/base/project.js';
import { PROGRAM } from '../program/program.js';

/** A run of four ranks on hosts with clocks of their own. */
export const RECORDED = projectFile('samples/hosts');

/** The line that a script runs as `nccl-trace`. */
export const THE_COMMAND = `exec "${process.execPath}" "${PROGRAM}" "$@"`;

/** Writes these lines as the script `folder`/bin/nccl-trace. */
export function writeCommand(folder: string, lines = THE_COMMAND): void {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, 'nccl-trace'), `#!/bin/bash\n${lines}\n`, { mode: 0o755 });
}

/** Copies the files of these ranks to a node's disk. */
export function copyRanks(ranks: readonly number[], disk: string): void {
  mkdirSync(disk, { recursive: true });
  for (const rank of ranks)
    copyFileSync(path.join(RECORDED, `rank0000${rank}.bin`), path.join(disk, `rank0000${rank}.bin`));
}
