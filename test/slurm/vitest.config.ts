/** The tests that need a Slurm on this machine: not part of `npm test`, because only root can start one. */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/slurm/*.cluster.ts'],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    globalSetup: ['test/support/tiers/build_command.ts'],
    // Only one Slurm can run on a machine.
    fileParallelism: false,
    // Its helpers wait without a pause, and have a limit of their own.
    testTimeout: 0,
    hookTimeout: 0,
  },
});
