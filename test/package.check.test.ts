/** What `npm pack` makes, which is also what npm installs from a git address: unpacked elsewhere, it works. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

let folder = '';
const installed = () => path.join(folder, 'package');

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-package-'));
  // Without `prepare`: it would build under the feet of the tests beside this one.
  const quietly = ['--offline', '--no-update-notifier', '--ignore-scripts'];
  const args = ['pack', '--json', ...quietly, '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as {
    filename: string;
  }[];
  execFileSync('tar', ['xzf', path.join(folder, packed!.filename), '-C', folder]);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(installed(), 'node_modules'));
}, 600_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(...args: string[]): string {
  return execFileSync(process.execPath, [path.join(installed(), 'bin/nccl-trace.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
    // The package has no kernel for tests.
    env: { ...process.env, NCCL_TRACE_KERNEL: undefined },
  });
}

it('merges the samples', () => {
  run('merge', path.join(installed(), 'samples/straggler'), '-o', 'run.pftrace');
  expect(existsSync(path.join(folder, 'run.pftrace'))).toBe(true);
});

it('has the kernel of the command and not that of tests', () => {
  const kernels = readdirSync(path.join(installed(), 'dist')).filter((name) => name.startsWith('kernel'));
  expect(kernels.sort()).toEqual(['kernel.wasm', 'kernel.wasm.map']);
});

it('makes the page of a report', () => {
  run('report', path.join(installed(), 'samples/straggler'), '-qo', 'run.html');
  expect(readFileSync(path.join(folder, 'run.html'), 'utf8')).toContain('<b>SLOW</b>');
});

it('has the plugin', () => {
  const plugin = run('plugin-path').trim();
  expect(plugin).toBe(path.join(installed(), 'build/libnccl-profiler-trace.so'));
  expect(existsSync(plugin)).toBe(true);
});

it('has the plugin, the loopback and the addon', () => {
  for (const name of ['nccl-trace-loopback', 'nccl-trace-decoder.node']) {
    expect(existsSync(path.join(installed(), 'build', name))).toBe(true);
  }
});

it('has neither tests nor sources', () => {
  for (const name of ['test', 'native', 'src', 'bench', 'build/obj']) {
    expect(existsSync(path.join(installed(), name)), name).toBe(false);
  }
});
