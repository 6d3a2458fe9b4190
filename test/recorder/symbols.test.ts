// What the library exports, and what it needs: it is built on a new system and loaded on old ones.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PLUGIN, SANITIZER } from './programs.js';

/** A sanitizer brings symbols and needs of its own. */
const canLook = (() => {
  if (SANITIZER !== '') return false;
  try {
    execFileSync('readelf', ['--version']);
    return true;
  } catch {
    return false;
  }
})();
const readelf = (...args: string[]) => execFileSync('readelf', ['-W', ...args, PLUGIN], { encoding: 'utf8' });

/** Names of the dynamic symbol table, with versions. */
function dynamicSymbols(): { name: string; defined: boolean }[] {
  return readelf('--dyn-syms')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => /^\d+:$/.test(fields[0] ?? '') && fields.length >= 8 && fields[4] !== 'LOCAL')
    .map((fields) => ({ name: fields[7]!, defined: fields[6] !== 'UND' }));
}

test.skipIf(!canLook)('exports one table per version and nothing else', () => {
  const exported = dynamicSymbols().filter(({ defined }) => defined);
  expect(exported.map(({ name }) => name).sort()).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((version) => `ncclProfiler_v${version}`),
  );
});

test.skipIf(!canLook)('loads on glibc 2.28', () => {
  const versions = dynamicSymbols().flatMap(
    ({ name }) => /@GLIBC_(\d+)\.(\d+)/.exec(name)?.slice(1, 3) ?? [],
  );
  expect(versions.length).toBeGreaterThan(0);
  for (let i = 0; i < versions.length; i += 2) {
    expect(versions[i]).toBe('2');
    expect(Number(versions[i + 1])).toBeLessThanOrEqual(28);
  }
});

test.skipIf(!canLook)('needs the C library only', () => {
  const needed = [...readelf('--dynamic').matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((match) => match[1]!);
  for (const library of needed) expect(library).toMatch(/^(libc|libpthread|libdl|ld-linux[\w-]*)\.so\.\d$/);
});

test.skipIf(!canLook)('stays loaded, and keeps its thread-local pointer in the static block', () => {
  const flags = readelf('--dynamic');
  expect(flags).toContain('NODELETE');
  // The linker for aarch64 leaves the flag out; there the relocation tells.
  if (readelf('--file-header').includes('AArch64')) {
    // The linker may make several for one variable.
    const relocations = readelf('--relocs').match(/R_AARCH64_TLS\w+/g);
    expect([...new Set(relocations)]).toEqual(['R_AARCH64_TLS_TPREL64']);
  } else {
    expect(flags).toContain('STATIC_TLS');
  }
  // One pointer: static TLS is scarce in a process that has loaded everything else.
  const tls = /^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x\w+)/m.exec(readelf('--segments'));
  expect(Number(tls?.[1])).toBe(8);
});
