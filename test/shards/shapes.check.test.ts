import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('the descriptions of stored types match src/shards/stored.ts; if not, run npm run generate:shapes', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'shapes-'));
  try {
    const fresh = path.join(folder, 'shapes.ts');
    execFileSync(process.execPath, [path.join(root, 'scripts/generate-shapes.mjs'), fresh]);
    const committed = readFileSync(path.join(root, 'src/shards/generated/shapes.ts'), 'utf8');
    expect(readFileSync(fresh, 'utf8') === committed).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
