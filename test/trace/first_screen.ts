/** The first screen of a trace, as scripts/first_screen.mjs reads it from the packets and the startup commands. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Width of the names' column for a pinned row. */
export const ROW_CHARACTERS = 36;

/** The trace goes into `folder`. */
export async function screenOf(
  folder: string,
  name: string,
  input = path.join(root, 'samples', name),
): Promise<string> {
  const output = path.join(folder, `${name}.pftrace`);
  await merge({ inputs: [input], output, jobs: 1, hungAfter: 1, texts: traceTexts });
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/first_screen.mjs', output], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}

/** Names of the pinned rows and of the groups below, and the lines before them. */
export function partsOf(screen: string) {
  const [head = '', rest = ''] = screen.split('pinned\n');
  const [pins = '', groups = ''] = rest.split('below\n');
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  return {
    head,
    pins: lines(pins).map((line) => line.slice(2, 2 + ROW_CHARACTERS).trim()),
    slices: lines(pins).map((line) => line.slice(2 + ROW_CHARACTERS).trim()),
    groups: lines(groups).map((line) => line.slice(2)),
  };
}
