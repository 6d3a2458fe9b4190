import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { block, ns, trace } from './blocks.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const schemas = join(root, 'schemas', 'perfetto');
const hasProtoc = spawnSync('protoc', ['--version']).status === 0;

describe('the generated code', () => {
  it('is generated from schemas/perfetto; if not, run npm run generate:protos', () => {
    const fresh = mkdtempSync(join(tmpdir(), 'protos-'));
    try {
      execFileSync(process.execPath, [join(root, 'scripts', 'generate-protos.mjs'), fresh]);
      const committed = join(root, 'src', 'trace', 'perfetto', 'generated');
      expect(readdirSync(fresh).sort()).toEqual(readdirSync(committed).sort());
      for (const name of readdirSync(fresh)) {
        expect(
          readFileSync(join(fresh, name), 'utf8') === readFileSync(join(committed, name), 'utf8'),
          name,
        ).toBe(true);
      }
    } finally {
      rmSync(fresh, { recursive: true });
    }
  });
});

describe.runIf(hasProtoc)('protoc, as a second reader (skipped where there is none)', () => {
  const { bytes } = block((sink) => {
    const lane = sink.describe({ kind: 'slices', name: 'colls', rank: 1 });
    const slice = sink.begin(lane, ns(5000), 'AllReduce', {
      args: [
        ['seq', 42],
        ['algo', 'ring'],
        ['skew', -3],
        ['ratio', 0.5],
        ['hash', (1n << 64n) - 1n],
        ['late', true],
      ],
      flow: { hi: 0xdeadbeef, lo: 0xfeedface },
      correlation: 77,
    });
    sink.end(lane, ns(12_000), slice);
  });
  const protoc = (...args: string[]): string =>
    execFileSync('protoc', args, { input: trace({ bytes, chunks: [], counts: {} as never }) }).toString();

  it('accepts the schemas and finds nothing it does not know', () => {
    const text = protoc('-I', schemas, '--decode', 'perfetto.protos.Trace', 'trace.proto');
    expect(text).toContain('name: "AllReduce"');
    expect(text).toContain(`flow_ids: 16045690985374415566`);
    expect(text).toContain('uint_value: 18446744073709551615');
    expect(text).toContain('int_value: -3');
    // A field that the schema does not have is printed by its number.
    expect(text).not.toMatch(/^\s*\d+[:{ ]/m);
  });
});
