/** `--with`: files of other tools that are drawn beside their ranks. */

import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageError } from '../base/errors.js';
import { reason } from '../base/reason.js';
import type { WithFile } from '../foreign/beside/with_file.js';

export const addWithOption = (command: Command): Command =>
  command.option('--with <files...>', "traces of PyTorch's profiler or nsys, or RANK=FILE");

/** Throws UsageError for a file that cannot be read. */
export function withFiles(given: readonly string[] | undefined): WithFile[] {
  return (given ?? []).map((text) => {
    const [, rank, named] = /^(\d+)=(.+)$/.exec(text) ?? [];
    const path = named ?? text;
    checkFile(path);
    return { path, rank: rank === undefined ? null : Number(rank) };
  });
}

function checkFile(path: string): void {
  let isFile: boolean;
  try {
    isFile = statSync(path).isFile();
  } catch (error) {
    throw new UsageError(`--with ${path}: ${reason(error)}`);
  }
  if (!isFile)
    throw new UsageError(`--with ${path}: not a file; name rank files before --with, and traces after it`);
}
