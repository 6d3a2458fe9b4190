// The benchmark still runs, and counts every callback it claims to measure. Its figures are not judged here.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('npm run bench:record', () => {
  const script = fileURLToPath(new URL('../../bench/record.mjs', import.meta.url));
  const cases = JSON.parse(
    execFileSync(process.execPath, [script, '--smoke', '--json'], { encoding: 'utf8' }),
  ) as { name: string; ns: number }[];
  expect(cases.length).toBeGreaterThan(15);
  for (const { ns } of cases) expect(ns).toBeGreaterThan(0);
});
