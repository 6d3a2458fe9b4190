/** What a person sends us of a bug: lines of our sources, though what ran is a bundle of them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stackInSources } from '../../src/cli/source_stack.js';
import { newKernel } from '../../src/kernel/host/load.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-stack-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('names file and line of the source', async () => {
  const source = path.join(folder, 'bug.ts');
  writeFileSync(source, '// one\n// two\nexport function bug(): never {\n  throw new Error("oh");\n}\n');
  const bundle = path.join(folder, 'out/bug.js');
  await build({
    entryPoints: [source],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    minifyWhitespace: true,
    sourcemap: true,
  });
  const { bug } = (await import(/* @vite-ignore */ pathToFileURL(bundle).href)) as { bug: () => never };
  const lines = stackInSources(thrownBy(bug))?.split('\n') ?? [];
  expect(lines[0]).toBe('Error: oh');
  expect(lines[1]).toMatch(/at (Module\.)?bug \(.*bug\.ts:4:9\)$/);
});

it('names file and line of the kernel', () => {
  const error = thrownBy(() => {
    newKernel().exports.checkIndex(3, 3);
  });
  // Its message says where the assertion is.
  const line = /src\/kernel\/checks\.ts:\d+/.exec(error.message)![0];
  expect(stackInSources(error)).toContain(`at src/kernel/checks/checkIndex (${line}:`);
});

it('leaves places without a map as they are', () => {
  const error = new Error('oh');
  error.stack = 'Error: oh\n    at file:///nowhere/a.js:1:2\n    at node:internal/x:3:4';
  expect(stackInSources(error)).toBe(error.stack);
});

function thrownBy(call: () => void): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
