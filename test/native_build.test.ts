/** The native build, on a made-up native/ folder: what is rebuilt when, and who is told about what. */

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const compiler = process.env.CXX ?? 'c++';
const hasCompiler = process.platform === 'linux' && spawnSync(compiler, ['--version']).status === 0;
/** As an archive: a program that uses it links. */
const hasZstd =
  spawnSync(compiler, ['-x', 'c++', '-', '-x', 'none', '-l:libzstd.a', '-o', '/dev/null'], {
    input: '#include <zstd.h>\nint main() { return ZSTD_versionNumber() == 0; }\n',
  }).status === 0;

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'a folder with spaces '));
  cpSync(path.join(ROOT, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  put('native/format/answer.h', 'inline int answer() { return 42; }\n');
  put('native/plugin/ring.cc', '#include "format/answer.h"\nint ring() { return answer(); }\n');
  put('native/test/ring_test.cc', 'int ring();\nint main() { return ring(); }\n');
  put('native/loopback/main.cc', 'int main() { return 7; }\n');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe.skipIf(!hasCompiler)('with a compiler', () => {
  it('makes the targets, and a program of each test with the plugin inside', () => {
    expect(build('build')).toEqual({ status: 0, said: '' });
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'nccl-trace-loopback', 'ring_test']);
    expect(spawnSync(path.join(folder, 'build/ring_test')).status).toBe(42);
  });

  it('makes again only what a change reaches', () => {
    build('build');
    const before = times();
    build('build');
    expect(times()).toEqual(before);

    put('native/format/answer.h', 'inline int answer() { return 43; }\n', 'later');
    build('build');
    const after = times();
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual([
      'libnccl-profiler-trace.so',
      'ring_test',
    ]);
    expect(spawnSync(path.join(folder, 'build/ring_test')).status).toBe(43);
  });

  it('does without a library that is not there, and takes it when it comes', () => {
    put('native/plugin/zstd/pack.cc', '#include <zstd.h>\nint pack() { return 1; }\n');
    put('native/plugin/no_zstd/pack.cc', 'int pack() { return 2; }\n');
    put('native/test/pack_test.cc', 'int pack();\nint main() { return pack(); }\n');
    put('hidden/zstd.h', '#error not here\n');
    const packs = () => spawnSync(path.join(folder, 'build/pack_test')).status;
    expect(build('build', [], `${compiler} -Ihidden`)).toEqual({ status: 0, said: '' });
    expect(packs()).toBe(2);
    expect(build('build')).toEqual({ status: 0, said: '' });
    expect(packs()).toBe(hasZstd ? 1 : 2);
  });

  it('removes a program whose source is gone', () => {
    build('build');
    rmSync(path.join(folder, 'native/loopback/main.cc'));
    build('build');
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'ring_test']);
  });

  it('refuses a warning when we build, and shows it when others install', () => {
    put('native/loopback/main.cc', 'static int unused() { return 0; }\nint main() { return 7; }\n');
    expect(build('build')).toMatchObject({ status: 1, said: expect.stringContaining('[-Werror') as string });
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'ring_test']);
    expect(build('prepare')).toMatchObject({
      status: 0,
      said: expect.stringContaining('warning:') as string,
    });
    expect(built()).toContain('nccl-trace-loopback');
  });

  it('lets an install succeed without the native part, but never a test run', () => {
    build('build');
    put('native/plugin/ring.cc', 'int ring() { return ; }\n', 'later');
    const install = build('prepare');
    expect(install.status).toBe(0);
    expect(install.said).toContain('there is no plugin');
    expect(built()).toEqual(['nccl-trace-loopback']);
    expect(build('pretest').status).toBe(1);
  });

  it('builds for a sanitizer into a folder of its own', () => {
    expect(build('build', ['--sanitize=undefined'])).toEqual({ status: 0, said: '' });
    expect(existsSync(path.join(folder, 'build/undefined/ring_test'))).toBe(true);
    expect(existsSync(path.join(folder, 'build/ring_test'))).toBe(false);
  });
});

it.skipIf(process.platform !== 'linux')('without a compiler says so in one line, and succeeds', () => {
  expect(build('build', [], 'not-a-compiler')).toEqual({
    status: 0,
    said:
      'no C++ compiler (CXX=not-a-compiler does not run): the plugin and the demo are not built; ' +
      'merge, inspect and open work without them\n',
  });
});

function put(file: string, text: string, when?: 'later'): void {
  const full = path.join(folder, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
  // Saved within the millisecond in which its object was made, a source would look no newer.
  const at = new Date(Date.now() + (when === 'later' ? 0 : -60_000));
  utimesSync(full, at, at);
}

function build(
  npmScript: string,
  args: string[] = [],
  cxx = compiler,
): { status: number | null; said: string } {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--native', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_lifecycle_event: npmScript, CXX: cxx },
  });
  return { status, said: stderr };
}

function built(): string[] {
  return readdirSync(path.join(folder, 'build'))
    .filter((name) => name !== 'obj')
    .sort();
}

function times(): Record<string, number> {
  return Object.fromEntries(
    built().map((name) => [name, statSync(path.join(folder, 'build', name)).mtimeMs]),
  );
}
