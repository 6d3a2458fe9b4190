import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Same bytes everywhere: no locale, no time zone. The kernel checks itself.
    env: { LC_ALL: 'C', TZ: 'UTC', NCCL_TRACE_KERNEL: 'debug' },
    globalSetup: ['test/support/build_command.ts'],
    setupFiles: ['test/support/fixed_seed.ts'],
    // Processes rather than threads: tests start worker threads of their own, and set TZ for their children.
    // All cores, but no more than four: the loopback tests bring several processes per test.
    pool: 'forks',
    // A worker keeps its modules from file to file: loading and warming them again for each of 190 files takes a fifth of the time.
    isolate: false,
    maxWorkers: Math.min(4, availableParallelism()),
    // Generous, because a two-core machine may also be compiling. A hang still ends. Long forms repeat fifty times and more.
    testTimeout: process.env.NCCL_TRACE_LONG === '1' ? 1_800_000 : 60_000,
    hookTimeout: 60_000,
  },
});
