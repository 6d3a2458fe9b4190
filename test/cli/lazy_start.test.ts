/** What a start of the command loads, by the imports of the built files: only what is needed at once. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

it('--version and --help of a command load neither the merge nor a package other than commander', () => {
  const { files, packages, bytes } = loadedBy('cli/main.js');
  expect(packages).toEqual([]);
  expect(files.length).toBeLessThan(12);
  expect(bytes).toBeLessThan(150_000);
});

it('merge waits for no thread pool and no zstd', () => {
  const [merge] = chunksNamed('cli/main.js', /merge-\w+\.js$/);
  const { packages, bytes } = loadedBy(merge!);
  expect(packages).toEqual([]);
  // These figures show that the imports were found at all.
  expect(bytes).toBeGreaterThan(300_000);
});

it('inspect does not load what draws', () => {
  const [merge, inspect] = ['merge', 'inspect'].map((name) => {
    const [entry] = chunksNamed('cli/main.js', new RegExp(`${name}-\\w+\\.js$`));
    return loadedBy(entry!).bytes;
  });
  expect(inspect! / merge!).toBeLessThan(0.75);
});

interface Loaded {
  readonly files: string[];
  readonly packages: string[];
  readonly bytes: number;
}

/** The file and all that it imports before its first line runs. */
function loadedBy(entry: string, seen = new Set<string>()): Loaded {
  const packages = new Set<string>();
  let bytes = 0;
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(path.join(DIST, file), 'utf8');
    bytes += text.length;
    for (const [, module] of text.matchAll(/(?:^|[;}\n])(?:import|export)(?:[^"'();]*from)?"([^"]+)"/g)) {
      if (module!.startsWith('.')) visit(path.join(path.dirname(file), module!));
      else if (!module!.startsWith('node:')) packages.add(module!);
    }
  };
  visit(entry);
  return { files: [...seen], packages: [...packages], bytes };
}

function chunksNamed(file: string, name: RegExp): string[] {
  const text = readFileSync(path.join(DIST, file), 'utf8');
  return [...text.matchAll(/import\("([^"]+)"\)/g)]
    .map(([, module]) => path.join(path.dirname(file), module!))
    .filter((module) => name.test(module));
}
