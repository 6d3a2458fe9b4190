// Stream mode at the highest rate, for a minute.

import { expect, test } from 'vitest';
import { PLUGIN, inNewFolder, run } from './programs.js';

interface Counts {
  readonly calls: number;
  readonly slots: number;
  readonly missing: number;
  readonly longest_wait: number;
}

const OPERATIONS = 16; // of two slots each; all other records of stream_bench have one

// A minute at a million callbacks a second, in two processes. Whatever the machine: each call is a record or is counted as
// missing. Where the recorder's threads got a core when they wanted one, nothing is missing.
test('soak of stream mode', async () => {
  await inNewFolder(async (folder) => {
    const env = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_MAX_MB: '0' };
    const outcome = await run('stream_bench', [PLUGIN, folder, '2', '60', '1000000'], { env });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    console.log(outcome.stdout);
    const processes = outcome.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Counts);
    expect(processes).toHaveLength(2);
    for (const { calls, slots, missing, longest_wait: wait } of processes) {
      expect(slots + missing).toBe(calls + OPERATIONS);
      // A ring of steps lasts half a second at this rate, and draining begins at a quarter of it.
      if (wait >= 0 && wait < 0.2) expect(missing).toBe(0);
    }
  });
});
