// User-buffer registration: a transfer of several steps of up to 1 GiB.

import { expect, test } from 'vitest';
import { Run } from './loopback.js';

test('a transfer of more than one GiB', async () => {
  const run = await Run.of('--registered --ranks 2 --channels 1 --iterations 1 --ops group{send+recv:1100M}');
  expect(run.summary).toMatchObject({ ending: 'finished', counts: { wrong: 0 } });
  for (const op of run.proxyOps(0)) expect(op).toMatchObject({ nSteps: 2, bytes: 1100 * 2 ** 20 });
  run.remove();
});
