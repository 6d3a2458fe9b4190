// What scripts/test-nodes.mjs runs under each version of Node: every sample read, and merged. Plain JavaScript on the built program: no test runner supports them all.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { merge } from '../../build/modules/merge.js';
import { memorySource } from '../../build/modules/rankfile/byte_source.js';
import { addon } from '../../build/modules/rankfile/addon.js';
import { parseRankFile } from '../../build/modules/rankfile/rank_file.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
assert.ok(addon, 'the addon does not load: npm run build');

let files = 0;
/** By folder. A node that died early left a file without any. */
const records = new Map();
for (const name of readdirSync(samples, { recursive: true })) {
  if (!name.endsWith('.bin')) continue;
  const source = memorySource(name, readFileSync(path.join(samples, name)));
  const { rings } = parseRankFile(source);
  const folder = path.dirname(name);
  const found = rings.reduce((sum, ring) => sum + ring.records.length, 0);
  records.set(folder, (records.get(folder) ?? 0) + found);
  files++;
}
for (const [folder, found] of records) assert.ok(found > 0, `${folder} has no records`);

const folder = mkdtempSync(path.join(os.tmpdir(), 'nccl-trace-nodes-'));
try {
  for (const name of records.keys()) {
    const output = path.join(folder, `${name}.pftrace.zst`);
    await merge({ inputs: [path.join(samples, name)], output, jobs: 2 });
    assert.ok(statSync(output).size > 1000, `${name} gave no trace`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`Node ${process.version}: ${files} files read, all samples merged`);
