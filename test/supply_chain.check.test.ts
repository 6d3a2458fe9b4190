/** What a security team asks: pinned dependencies, known install scripts, a bill of materials, and no network where none is needed. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PROGRAM } from './support/program/program.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const json = (name: string): unknown => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-supply-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The packages whose code goes into dist/. */
function importedBySources(): Set<string> {
  const sources = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/^kernel\/[^/]*$/.test(name),
  );
  const names = sources.flatMap((name) =>
    [
      ...readFileSync(path.join(ROOT, 'src', name), 'utf8').matchAll(/ from '((?:@[\w-]+\/)?[a-z][\w.-]*)/g),
    ].map(([, found]) => found!),
  );
  return new Set(names.filter((name) => `node_modules/${name}` in packages));
}

const { packages } = json('package-lock.json') as { packages: Record<string, LockedPackage> };
const { dependencies } = json('package.json') as { dependencies: Record<string, string> };
const others = Object.entries(packages).filter(([place]) => place !== '');

describe('the lock file', () => {
  it('pins every package by a hash', () => {
    expect(others.length).toBeGreaterThan(50);
    expect(others.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('has only one install script: that of esbuild', () => {
    const scripted = others.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place);
    expect(scripted.filter((place) => place !== 'node_modules/fsevents')).toEqual(['node_modules/esbuild']);
  });
});

describe('the bill of materials', () => {
  const write = (name: string): string => {
    const file = path.join(folder, name);
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/sbom.mjs'), file], { stdio: 'pipe' });
    return readFileSync(file, 'utf8');
  };

  it('has all that is installed with the command, with version and hash, and no tools', () => {
    const { bomFormat, components } = JSON.parse(write('one.json')) as {
      bomFormat: string;
      components: { name: string; version: string; hashes: unknown[] }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    const names = components.map(({ name }) => name);
    const inKernel = 'assemblyscript'; // its runtime
    for (const name of [...Object.keys(dependencies), ...importedBySources(), inKernel])
      expect(names).toContain(name);
    expect(names).not.toContain('binaryen');
    expect(names).not.toContain('vitest');
    expect(names).not.toContain('esbuild');
    for (const { name, version, hashes } of components) {
      expect(packages[`node_modules/${name}`]!.version).toBe(version);
      expect(hashes).toHaveLength(1);
    }
  });

  it('is the same every time', () => {
    expect(write('two.json')).toBe(write('three.json'));
  });

  it('goes into the package', () => {
    const { files, scripts } = json('package.json') as { files: string[]; scripts: Record<string, string> };
    expect(files).toContain('sbom.cdx.json');
    expect(scripts.prepack).toContain('scripts/sbom.mjs');
  });
});

const commands = [
  ['merge', path.join(ROOT, 'samples/hosts'), '-o', 'run.pftrace', '--force', '--jobs', '2'],
  ['inspect', path.join(ROOT, 'samples/hosts')],
];
const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

describe.each(commands)('%s', (...args) => {
  it.skipIf(!works('unshare', '-rn', 'true'))(
    'works without a network (skipped where unshare may not)',
    () => {
      const run = spawnSync('unshare', ['-rn', process.execPath, PROGRAM, ...args], { cwd: folder });
      expect(run.status).toBe(0);
    },
  );

  it.skipIf(!works('strace', '-o', '/dev/null', 'true'))(
    'opens no socket (skipped where there is no strace)',
    () => {
      const log = path.join(folder, 'calls');
      const traced = ['-f', '-qq', '-e', 'trace=%network,execve', '-e', 'signal=none', '-o', log];
      const run = spawnSync('strace', [...traced, process.execPath, PROGRAM, ...args], { cwd: folder });
      expect(run.status).toBe(0);
      const calls = readFileSync(log, 'utf8').split('\n');
      expect(calls[0]).toContain('execve');
      expect(calls.filter((line) => /\b(socket|connect|bind|sendto|sendmsg)\(/.test(line))).toEqual([]);
    },
  );
});
