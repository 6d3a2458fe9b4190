/**
 * examples/kubernetes/Dockerfile builds, and the command and the plugin are in its image, where no compiler is. Its lines run on this machine's
 * system, because no test has a Docker. Takes minutes, and the registry.
 */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../support/jobs/native.js';

it.runIf(process.getuid?.() === 0)('the image records and merges, without a compiler', () => {
  const script = `! command -v c++ g++ gcc cc && nccl-trace demo --ranks 2 --strict -o /tmp/demo.pftrace`;
  const { status, stdout, stderr } = spawnSync(
    path.join(PROJECT, 'scripts/dockerfile-here.sh'),
    ['examples/kubernetes/Dockerfile', 'bash', '-c', script],
    { cwd: PROJECT, encoding: 'utf8' },
  );
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0 });
  expect(stderr).toContain('HEALTHY');
});
