import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const HOUR = 3_600_000;

/** Files of which the long tier runs many times more cases than the first (test/support/tiers/tier.ts). */
const TIERS = 'test/**/*.tiers.test.ts';
/** The first tier plays what they recorded once; the others record it anew (test/support/jobs/kept_job.ts). */
const ANEW = 'test/**/*.anew.test.ts';

/** A test belongs to a tier by the name of its file. CONTRIBUTING.md says what goes where. */
function tier(
  name: 'first' | 'ci' | 'long',
  include: string[],
  more: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, provide: { tier: name }, ...more } };
}

export default defineConfig({
  test: {
    projects: [
      tier('first', ['test/**/*.test.ts'], {
        exclude: [...configDefaults.exclude, 'test/**/*.{ci,long,check}.test.ts'],
      }),
      tier('ci', ['test/**/*.ci.test.ts', ANEW]),
      tier('long', ['test/**/*.long.test.ts', TIERS, ANEW]),
      // A part of `npm run check`.
      tier('ci', ['test/**/*.check.test.ts'], { name: 'check' }),
    ],
    // Same bytes everywhere: no locale, no time zone. The kernel checks itself.
    env: { LC_ALL: 'C', TZ: 'UTC', NCCL_TRACE_KERNEL: 'debug' },
    globalSetup: ['test/support/tiers/build_command.ts'],
    setupFiles: ['test/support/tiers/fixed_seed.ts'],
    // Processes rather than threads: tests start worker threads of their own, and set TZ for their children.
    // More than there are cores: many tests mostly wait for processes of their own.
    pool: 'forks',
    // A worker keeps its modules from file to file: loading and warming them again for each of 190 files takes a fifth of the time.
    isolate: false,
    maxWorkers: Math.min(4, 2 * availableParallelism()),
    // A test ends by the limit of its runner, which does not go by the clock; so a helper that waits needs none. Hooks only make things ready.
    runner: 'test/support/tiers/runner.ts',
    testTimeout: 0,
    hookTimeout: HOUR,
    expect: { poll: { timeout: HOUR } },
  },
});
