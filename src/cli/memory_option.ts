/** The option of all commands that read the records of rank files. */

import type { Command } from 'commander';
import { limitMemory } from '../kernel/host/memory_limit.js';
import { size } from './numbers.js';

export const addMemoryOption = (command: Command): Command =>
  command
    .option(
      '--max-memory <size>',
      'for the records of one file, e.g. 2G (default: 96M and 64 times its size)',
      // A kernel's addresses end at 4 GiB.
      size({ least: 2 ** 20, most: 2 ** 32 }),
    )
    .hook('preAction', (_, asked) => {
      limitMemory(asked.opts<{ readonly maxMemory?: number }>().maxMemory);
    });
