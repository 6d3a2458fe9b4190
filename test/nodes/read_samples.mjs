// What scripts/test-nodes.mjs runs under each version of Node: every sample read by the addon and by the reader in
// TypeScript, column for column, and merged. Plain JavaScript on the built program: no test runner supports them all.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { merge } from '../../build/modules/merge.js';
import { memorySource } from '../../build/modules/rankfile/byte_source.js';
import { bestDecoder } from '../../build/modules/rankfile/best_decoder.js';
import { typescriptDecoder } from '../../build/modules/rankfile/decoder.js';
import { parseRankFile } from '../../build/modules/rankfile/rank_file.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
assert.equal(bestDecoder.name, 'addon', 'the addon does not load: npm run build');

let files = 0;
for (const name of readdirSync(samples, { recursive: true })) {
  if (!name.endsWith('.bin')) continue;
  const source = memorySource(name, readFileSync(path.join(samples, name)));
  assert.deepEqual(parseRankFile(source, bestDecoder), parseRankFile(source, typescriptDecoder), name);
  files++;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'nccl-trace-nodes-'));
try {
  for (const name of readdirSync(samples)) {
    const output = path.join(folder, `${name}.pftrace.zst`);
    await merge({ inputs: [path.join(samples, name)], output, jobs: 2 });
    assert.ok(statSync(output).size > 1000, `${name} gave no trace`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(
  `Node ${process.version}: ${files} files read alike by the addon and without it, all samples merged`,
);
