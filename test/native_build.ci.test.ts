/** The native build, on a made-up native/ folder: what is rebuilt when, and who is told about what. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

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
  put('tools/loopback/main.cc', 'int main() { return 7; }\n');
  put('tools/loopback/exports.list', '{ ncclGetVersion; };\n');
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

  it('the same bytes in another folder', () => {
    build('build');
    const bytes = readFileSync(path.join(folder, 'build/ring_test'));
    const other = mkdtempSync(path.join(tmpdir(), 'another '));
    for (const name of ['scripts', 'native'])
      cpSync(path.join(folder, name), path.join(other, name), { recursive: true });
    rmSync(folder, { recursive: true });
    folder = other;
    build('build');
    expect(readFileSync(path.join(folder, 'build/ring_test')).equals(bytes)).toBe(true);
  });

  it('rebuilds only the files a change affects', () => {
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
    put('native/plugin/persist/zstd/pack.cc', '#include <zstd.h>\nint pack() { return 1; }\n');
    put('native/plugin/persist/no_zstd/pack.cc', 'int pack() { return 2; }\n');
    put('native/test/pack_test.cc', 'int pack();\nint main() { return pack(); }\n');
    put('hidden/zstd.h', '#error not here\n');
    const packs = () => spawnSync(path.join(folder, 'build/pack_test')).status;
    expect(build('build', [], `${compiler} -Ihidden`)).toEqual({ status: 0, said: '' });
    expect(packs()).toBe(2);
    expect(build('build')).toEqual({ status: 0, said: '' });
    expect(packs()).toBe(hasZstd ? 1 : 2);
  });

  it('removes a program without a source', () => {
    build('build');
    rmSync(path.join(folder, 'tools/loopback/main.cc'));
    build('build');
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'ring_test']);
  });

  it('refuses a warning when we build, and shows it where others build', () => {
    put('tools/loopback/main.cc', 'static int unused() { return 0; }\nint main() { return 7; }\n');
    expect(build('build')).toMatchObject({ status: 1, said: expect.stringContaining('[-Werror') as string });
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'ring_test']);
    expect(build('prebench:merge')).toMatchObject({
      status: 0,
      said: expect.stringContaining('warning:') as string,
    });
    expect(built()).toContain('nccl-trace-loopback');
  });

  it('builds only the addon at install, and names the parts that are not built yet', () => {
    put('native/addon/addon.cc', 'int addon() { return 1; }\n');
    const install = build('prepare');
    expect(install.status).toBe(0);
    expect(install.said).toContain('Not built yet: the plugin and the loopback');
    expect(built()).toEqual(['nccl-trace-decoder.node']);
  });

  it('makes all that is shipped where npm installs from a git address, and packs a clone', () => {
    put('native/addon/addon.cc', 'int addon() { return 1; }\n');
    vi.stubEnv('_PACOTE_NO_PREPARE_', 'git+file:///somewhere');
    const install = build('prepare');
    vi.unstubAllEnvs();
    expect(install).toEqual({ status: 0, said: '' });
    expect(packed()).toEqual(['libnccl-profiler-trace.so', 'nccl-trace-decoder.node', 'nccl-trace-loopback']);
  });

  it('lets an install succeed without the addon, but never a benchmark', () => {
    put('native/addon/addon.cc', 'int addon() { return ; }\n');
    const install = build('prepare');
    expect(install.status).toBe(0);
    expect(install.said).toContain('the addon does not build (see above)');
    expect(built()).toEqual([]);
    expect(build('prebench:merge').status).toBe(1);
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'nccl-trace-loopback', 'ring_test']);
  });

  it('never packs an incomplete build', () => {
    put('native/addon/addon.cc', 'int addon() { return 1; }\n');
    expect(build('prepack').status).toBe(0);
    expect(packed()).toEqual(['libnccl-profiler-trace.so', 'nccl-trace-decoder.node', 'nccl-trace-loopback']);
    put('native/plugin/ring.cc', 'int ring() { return ; }\n', 'later');
    expect(build('prepack').status).toBe(1);
  });

  it('waits for another build, and does the work once', async () => {
    const said = await Promise.all([1, 2, 3].map(() => buildMeanwhile()[1]));
    const compiled = said.filter((line) => line.includes('compiling: '));
    const waited = said.filter((line) => line.includes('another build is running here: waiting for it'));
    expect(compiled).toHaveLength(1);
    expect(waited).toHaveLength(2);
    expect(built()).toEqual(['libnccl-profiler-trace.so', 'nccl-trace-loopback', 'ring_test']);
  });

  it('is not held up by a build that was killed', async () => {
    const [killed, over] = buildMeanwhile();
    while (!existsSync(path.join(folder, 'build/obj'))) await pause(20);
    killed.kill('SIGKILL');
    await over;
    expect(build('build')).toEqual({ status: 0, said: '' });
    expect(built()).toContain('nccl-trace-loopback');
  });

  it('says in one line that a folder cannot be written', () => {
    chmodSync(folder, 0o555);
    // To root everything can be written.
    const somebody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--native'], {
      cwd: folder,
      encoding: 'utf8',
      ...somebody,
    });
    chmodSync(folder, 0o755);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `${path.join(folder, 'build')} cannot be written (EACCES); ` +
        'run "npm run build" where it can be written, or in a copy\n' +
        'the native part does not build; see above\n',
    );
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
      'merge, inspect and open work without them; to have them, install one (Debian: g++) and try again\n',
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
  // Whatever takes long says how far it is.
  return { status, said: stderr.replaceAll(/^compiling: .*\n/gm, '') };
}

/** A compiler that takes as long as ours does on real sources: two builds at once are sure to meet. */
function buildMeanwhile(): [process: ChildProcess, said: Promise<string>] {
  const slow = path.join(folder, 'slow-compiler');
  writeFileSync(slow, `#!/bin/sh\n[ "$1" = --version ] || sleep 1\nexec ${compiler} "$@"\n`, { mode: 0o755 });
  // A name without spaces: CXX is words.
  const env = { ...process.env, npm_lifecycle_event: 'build', CXX: './slow-compiler' };
  const child = spawn(process.execPath, ['scripts/build.mjs', '--native'], { cwd: folder, env });
  let said = '';
  child.stderr.on('data', (text) => (said += String(text)));
  return [
    child,
    new Promise((done) =>
      child.on('close', () => {
        done(said);
      }),
    ),
  ];
}

/** For this machine, stripped. */
const packed = (): string[] =>
  readdirSync(path.join(folder, 'prebuilt', process.arch === 'arm64' ? 'aarch64' : 'x86_64')).sort();

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
