/**
 * The limit of a test is time in which it had its share of the processors, not time of the clock: on a machine with sixty programs for two
 * processors a second of the clock is a thirtieth of one. So a test that hangs ends, and a test that is kept waiting does not fail.
 */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { inject, TestRunner, type RunnerTestCase } from 'vitest';

const MINUTE = 60;
const LIMITS = { first: 2 * MINUTE, ci: 5 * MINUTE, long: 120 * MINUTE };
/** What a sanitizer watches, or another processor's code under an emulator, is that much slower. */
const SLOWER = process.env.NCCL_TRACE_SANITIZER || process.env.NCCL_TRACE_RUNNER ? 10 : 1;

/** The part of a processor that each thread gets that wants one now. */
function share(): number {
  const wanting = Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))![1]);
  return Math.min(1, availableParallelism() / wanting);
}

export default class extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const limit = LIMITS[inject('tier')] * SLOWER;
    let [left, ticking]: [number, NodeJS.Timeout | undefined] = [limit, undefined];
    const hung = new Promise<never>((_, fail) => {
      ticking = setInterval(() => {
        left -= share();
        if (left <= 0) fail(new Error(`hangs: it had ${limit} s of a processor, and has not ended`));
      }, 1000);
    });
    try {
      await Promise.race([TestRunner.getTestFn(test)(), hung]);
    } finally {
      clearInterval(ticking);
    }
  }
}
