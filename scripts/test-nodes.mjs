// Reads and merges the samples with other versions of Node: `npm run test:nodes [-- 22 24]`. The npm package `node` brings them.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const asked = process.argv.slice(2);
const versions = asked.length > 0 ? asked : ['20', '22', '24'];

async function readSamples(version) {
  const program = ['node', path.join(root, 'test/nodes/read_samples.mjs')];
  try {
    const run = promisify(execFile);
    const { stdout } = await run('npx', ['--yes', '--package', `node@${version}`, ...program], { cwd: root });
    process.stdout.write(stdout);
  } catch (error) {
    process.stderr.write(
      `${error.stdout ?? ''}${error.stderr ?? ''}Node ${version}: failed: ${error.message}\n`,
    );
    process.exitCode = 1;
  }
}

// One after the other they leave cores idle: each waits for its package, and merges on two threads at most.
await Promise.all(versions.map(readSamples));
