// Reads and merges the samples with other versions of Node: `npm run test:nodes [-- 22 24]`. The npm package `node` brings them.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const asked = process.argv.slice(2);
const versions = asked.length > 0 ? asked : ['20', '22', '24'];

for (const version of versions) {
  const args = [
    '--yes',
    '--package',
    `node@${version}`,
    'node',
    path.join(root, 'test/nodes/read_samples.mjs'),
  ];
  const { status } = spawnSync('npx', args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`Node ${version}: failed`);
    process.exit(1);
  }
}
