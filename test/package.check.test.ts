/** What `npm run release` makes, which is also what npm installs from a git address, and docs/install.md: each of its commands, as it stands. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from './documents.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HERE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const OTHER = HERE === 'aarch64' ? 'x86_64' : 'aarch64';

let folder = '';
/** Where the package was unpacked: it brings its packages. */
const installed = (...names: string[]): string => path.join(folder, 'package', ...names);
const inRelease = (...names: string[]): string => path.join(ROOT, 'release', ...names);
let said = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-package-'));
  const release = spawnSync('npm', ['run', '--silent', 'release'], { cwd: ROOT, encoding: 'utf8' });
  said = release.stderr;
  expect(release).toMatchObject({ status: 0 });
  execFileSync('tar', ['xzf', inRelease('nccl-trace-0.1.0.tgz'), '-C', folder]);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(...args: string[]): string {
  return execFileSync(process.execPath, [installed('bin/nccl-trace.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    // The package has no kernel for tests.
    env: { ...process.env, NCCL_TRACE_KERNEL: undefined },
  });
}

describe('the package', () => {
  it('merges the samples', () => {
    run('merge', installed('samples/straggler'), '-o', 'run.pftrace');
    expect(existsSync(path.join(folder, 'run.pftrace'))).toBe(true);
  });

  it('has the kernel of the command and not that of tests', () => {
    const kernels = readdirSync(installed('dist')).filter((name) => name.startsWith('kernel'));
    expect(kernels.sort()).toEqual(['kernel.wasm', 'kernel.wasm.map']);
  });

  it('makes the page of a report', () => {
    run('report', installed('samples/straggler'), '-qo', 'run.html');
    expect(readFileSync(path.join(folder, 'run.html'), 'utf8')).toContain('<b>SLOW</b>');
  });

  it('has neither tests nor sources, and no tools', () => {
    for (const name of ['test', 'native', 'src', 'bench', 'build', 'release'])
      expect(existsSync(installed(name)), name).toBe(false);
    const packages = readdirSync(installed('node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages.sort()).toEqual(['@bokuweb', '@napi-rs', 'node-sqlite3-wasm', 'piscina']);
  });

  it('has plugin, addon and loopback of this machine, which run, and says so', () => {
    expect(run('plugin-path').trim()).toBe(installed('prebuilt', HERE, 'libnccl-profiler-trace.so'));
    run('demo', '--ranks', '2', '--strict', '-qo', 'demo.pftrace');
    expect(said).toContain(`in the package: ${HERE}`);
    expect(existsSync(installed('prebuilt', HERE, 'nccl-trace-decoder.node'))).toBe(true);
  });

  it('has those of the other machine, or says why not', ({ skip }) => {
    const files = ['libnccl-profiler-trace.so', 'nccl-trace-decoder.node', 'nccl-trace-loopback'];
    const [without] = new RegExp(`^not in the package: ${OTHER}: .*$`, 'm').exec(said) ?? [];
    if (without !== undefined) {
      expect(without).toMatch(/: no \S+-linux-gnu-g\+\+ \(Debian: g\+\+-[\w-]+-linux-gnu\)$/);
      expect(existsSync(installed('prebuilt', OTHER))).toBe(false);
      skip(without);
    }
    expect(said).toContain(`in the package: ${OTHER}`);
    const machines = { x86_64: 62, aarch64: 183 };
    for (const name of files)
      expect(readFileSync(installed('prebuilt', OTHER, name)).readUInt16LE(18)).toBe(machines[OTHER]);
    expect(run('plugin-path', '--machine', OTHER).trim()).toBe(installed('prebuilt', OTHER, files[0]!));
  });

  it('is stripped, and its symbols are beside it', () => {
    execFileSync('tar', ['xzf', inRelease('nccl-trace-0.1.0-symbols.tar.gz'), '-C', folder]);
    for (const name of readdirSync(installed('prebuilt', HERE))) {
      const stripped = installed('prebuilt', HERE, name);
      const symbols = path.join(folder, 'symbols', HERE, `${name}.debug`);
      const readelf = (...args: string[]) =>
        execFileSync('readelf', args, { encoding: 'utf8', stdio: 'pipe' });
      const buildId = (file: string) => /Build ID: (\w+)/.exec(readelf('--notes', file))?.[1];
      expect(readelf('--sections', '--wide', stripped)).not.toMatch(/ \.(debug_info|symtab) /);
      expect(readelf('--string-dump=.gnu_debuglink', stripped)).toContain(`${name}.debug`);
      expect(readelf('--sections', '--wide', symbols)).toMatch(/ \.debug_info /);
      expect(buildId(symbols)).toBe(buildId(stripped));
      expect(buildId(symbols)).toMatch(/^[0-9a-f]{40}$/);
    }
  });
});

describe('docs/install.md', () => {
  const blocks = (kind: string): string[] =>
    [...read('docs/install.md').matchAll(/^```sh (\w+)\n([\s\S]*?)^```$/gm)]
      .filter(([, of]) => of === kind)
      .map(([, , script]) => script!);

  /** Programs of a machine without a compiler. */
  const TOOLS = [
    'bash',
    'sh',
    'cp',
    'mkdir',
    'tar',
    'gzip',
    'ln',
    'ls',
    'sha256sum',
    'env',
    'node',
    'npm',
    'npx',
  ];
  const which = (tool: string): string => execFileSync('which', [tool], { encoding: 'utf8' }).trim();
  const canLeaveNetwork = spawnSync('unshare', ['-rn', 'true']).status === 0;

  it('the package installs without a compiler and without a network', () => {
    const place = path.join(folder, 'cluster');
    mkdirSync(path.join(place, 'bin'), { recursive: true });
    for (const tool of TOOLS) symlinkSync(which(tool), path.join(place, 'bin', tool));
    for (const file of ['nccl-trace-0.1.0.tgz', 'SHA256SUMS'])
      symlinkSync(inRelease(file), path.join(place, file));
    const scripts = blocks('package');
    expect(scripts.length).toBeGreaterThan(4);
    for (const script of scripts) {
      // The second way to install takes the place of the first.
      if (script.includes('ln -s')) rmSync(path.join(place, 'tools'), { recursive: true });
      const here = script.replaceAll('/shared/', `${place}/`);
      const apart = canLeaveNetwork ? [which('unshare'), '-rn'] : [];
      const result = spawnSync(which('env'), [...apart, which('bash'), '-euc', here], {
        cwd: place,
        encoding: 'utf8',
        // As in one shell: an earlier block has set PATH.
        env: { HOME: place, PATH: `${path.join(place, 'tools/bin')}:${path.join(place, 'bin')}` },
      });
      if (script.includes(`--machine ${OTHER}`) && !existsSync(installed('prebuilt', OTHER))) {
        expect(result).toMatchObject({ status: 1 });
        expect(result.stderr).toContain(`nccl-trace: there is no plugin for ${OTHER} here`);
        continue;
      }
      expect(result, `${here}\n${result.stderr}`).toMatchObject({ status: 0 });
      if (script.includes('--version')) expect(result.stdout).toContain('0.1.0');
      if (script.includes('inspect')) expect(result.stdout).toMatch(/^HUNG .*rank 3/);
    }
    expect(existsSync(path.join(place, 'tools/libnccl-profiler-trace.so'))).toBe(true);
    expect(existsSync(path.join(place, 'plugin/libnccl-profiler-trace.so'))).toBe(true);
  });

  it('the commands for a clone are those that were run here', () => {
    // .ci/run installs the clone in which this test runs, so only what needs no other clone is typed again.
    const [inClone] = blocks('clone') as [string];
    const output = execFileSync('bash', ['-euc', inClone.replace(/^npm install\b/, ': npm install')], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(output).toMatch(/0\.1\.0\n.*libnccl-profiler-trace\.so\n$/);
    expect(readdirSync(inRelease()).sort()).toEqual([
      'SHA256SUMS',
      'nccl-trace-0.1.0-symbols.tar.gz',
      'nccl-trace-0.1.0.tgz',
      'sbom.cdx.json',
    ]);
  });
});
