/** What follows a job for long: a hundred starts of real jobs, and a day of windows. Neither may leave anything behind. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { CollectiveRow } from '../../src/analysis/collectives.js';
import { projectFile } from '../../src/base/project.js';
import { Follower } from '../../src/live/follow.js';
import { metricsOf, metricsText, PROMETHEUS } from '../../src/live/metrics.js';
import { countCollectives, WorkTotals } from '../../src/live/work.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { record } from '../support/jobs/loopback.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

it('a hundred restarts are followed, each by itself, in the memory of one', async () => {
  const { folder, remove } = temporaryFolder();
  const args = ['metrics', path.join(folder, 'recording'), '--listen', '127.0.0.1:0', '--every', '1'];
  // With little room for young garbage its memory shows what it keeps.
  const child = spawn(process.execPath, ['--max-semi-space-size=1', PROGRAM, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const [said] = (await once(child.stderr, 'data')) as [Buffer];
    const url = /http:\S+/.exec(said.toString())![0];
    const seen = new Set<string>();
    const memory: number[] = [];
    for (let start = 0; start < 100; start++) {
      await record(folder, '--ranks 2 --iterations 3', { NCCL_TRACE_RUN_ID: `start-${start}` });
      for (;;) {
        const text = await (await fetch(url)).text();
        const runs = [...text.matchAll(/run_info\{run="([^"]+)"\} 1/g)].map(([, run]) => run!);
        expect(runs.length).toBeLessThanOrEqual(1);
        for (const run of runs) seen.add(run);
        if (runs[0]?.includes(`start-${start}`) === true) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      memory.push(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024);
    }
    expect(seen.size).toBe(100);
    // MiB: the first starts warm it up. It was 3 or 4.
    expect(memory.at(-1)! - memory[20]!).toBeLessThan(10);
  } finally {
    child.kill('SIGKILL');
    remove();
  }
});

it('a day of windows, with a look in each, leaks nothing', async () => {
  const sample = projectFile('samples/graph');
  let rows: readonly CollectiveRow[] = [];
  const found = await diagnose([sample], {
    jobs: 1,
    onStudied: (_, numbers) => (rows = numbers.collectives),
  });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const work = new WorkTotals();
  const follower = new Follower(sample, undefined);
  const windows = (24 * 3600) / 5;
  const span = Math.max(...rows.map(({ seq }) => seq)) + 1;
  let warm = 0;
  for (let window = 0; window < windows; window++) {
    // The same collectives again, with the numbers and times of this window: the graphs are captured again, too.
    const later = rows.map((row) => ({ ...row, seq: row.seq + window * span }));
    work.take({
      ...countCollectives(later, window * 5, work.counted),
      seen: { ranks: [], pairs: [], channels: [], p2p: [] },
    });
    if (window % 10 === 0) {
      const state = { sight: follower.look(window * 5000), look: { found, progress: [], at: window * 5 } };
      await metricsText(
        metricsOf({ ...state, looks: { count: window, cpuSeconds: 0 }, work, wall: (ms) => ms / 1000 }),
        PROMETHEUS,
      );
    }
    if (window === 1000) {
      collect();
      warm = process.memoryUsage().heapUsed;
    }
  }
  collect();
  const over = rows.filter(({ outcome }) => outcome !== 'open').length;
  const all = work.groups.flatMap(({ outcomes }) => Object.values(outcomes)).reduce((a, b) => a + b, 0);
  expect(all).toBe(over * windows);
  expect(JSON.stringify(work.counted).length).toBeLessThan(10_000);
  expect(process.memoryUsage().heapUsed - warm).toBeLessThan(2 ** 20);
});
