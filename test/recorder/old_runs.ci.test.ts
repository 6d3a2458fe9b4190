// NCCL_TRACE_KEEP where many ranks begin at once, some of them in the folders of runs that the others remove.

import { cpSync, readdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { startPuppet } from '../support/jobs/puppet.js';
import { ageRun } from '../support/rank_files/aged_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const samples = fileURLToPath(new URL('../../samples/', import.meta.url));
const OLD = ['healthy', 'straggler', 'graph', 'slow-gpu'];

it('no file of a run that begins is lost, and nothing stays in the way', async () => {
  for (let round = 0; round < 8; round++) {
    const { folder, remove } = temporaryFolder();
    const inRun = (...names: string[]): string => path.join(folder, ...names);
    for (const name of OLD) {
      cpSync(path.join(samples, name), inRun(name), { recursive: true });
      unlinkSync(inRun(name, 'README.md'));
      ageRun(inRun(name), 1000);
    }
    const jobs = [0, 1, 2].flatMap((rank) =>
      ['healthy', 'straggler', 'new'].map((run) => ({
        run,
        job: startPuppet({
          NCCL_TRACE_DIR: folder,
          NCCL_TRACE_RING_DIR: 'none',
          NCCL_TRACE_RUN_ID: run,
          NCCL_TRACE_KEEP: '1',
          RANK: String(rank),
          LOCAL_RANK: '0',
        }),
      })),
    );
    try {
      await Promise.all(jobs.map(({ job }) => job.tell('coll 10')));
      while (readdirSync(folder).some((name) => name === 'graph' || name === 'slow-gpu'))
        await Promise.all(jobs.map(({ job }) => job.tell('coll 1')));
      for (const { run, job } of jobs) {
        const files = readdirSync(inRun(run)).map((name) => openRankFile(inRun(run, name)).header);
        const own = files.filter(({ process }) => process.pid === job.process.pid);
        expect(own).toMatchObject([{ life: 'recording' }]);
      }
    } finally {
      await Promise.all(jobs.map(({ job }) => job.kill()));
      remove();
    }
  }
});
