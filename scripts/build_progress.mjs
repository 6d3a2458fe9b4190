// The progress of a build: one line that is rewritten on a terminal, else a line now and then.

import { performance } from 'node:perf_hooks';

const LINE_EVERY_MS = 10_000;
const FIRST_LINE_MS = 2_000;

/**
 * @param {string} what  "building the plugin"
 * @returns {{ step: (done: number, total: number) => void, end: () => void }}
 */
export function buildProgress(what) {
  const isTerminal = process.stderr.isTTY;
  let saidAt;
  return {
    step(done, total) {
      const now = performance.now();
      saidAt ??= now - LINE_EVERY_MS + FIRST_LINE_MS;
      if (!isTerminal && now - saidAt < LINE_EVERY_MS) return;
      saidAt = now;
      const line = `${what}: ${done} of ${total} files`;
      process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    },
    end() {
      if (isTerminal) process.stderr.write('\r\x1b[K');
    },
  };
}
