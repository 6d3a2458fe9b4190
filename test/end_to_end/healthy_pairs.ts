/** Two recordings of one healthy job, made at the same time, differ only by noise. */

import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { record, type Recording } from '../support/jobs/loopback.js';
import { runProgram } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

export function expectNoDifference(jobs: readonly string[], retry: number): void {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);

  it.each(jobs.map((job, i) => [i, job] as const))(
    'pair %i of recordings of one healthy job: no difference',
    // A machine whose load changes is not the same machine twice.
    { retry },
    async (i, job) => {
      // At the same time: what else this machine does is then the same for both.
      const [{ folder: before }, { folder: after }] = (await Promise.all(
        ['a', 'b'].map((name) => record(join(folder, `${name}${i}-${Date.now()}`), job)),
      )) as [Recording, Recording];
      const { code, out } = await runProgram(folder, 'diff', before, after, '--fail-on', '5%');
      expect(out.toString()).toMatch(/^no difference beyond the noise\n/);
      expect(out.toString()).toMatch(/compared: +\d\d+ numbers/);
      expect(code).toBe(0);
    },
  );
}
