/** What a start runs, by V8's coverage: only the modules that are needed at once; and that the code comes from V8's code cache. */

import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { PROGRAM } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** For the table of what was read, and the records of a trace above the ranks. */
/** fzstd: what a trace in the place of the output is, it looks up in the trace. */
const MERGE_PACKAGES = [
  'commander',
  'console-table-printer',
  'fzstd',
  'long',
  'protobufjs',
  'simple-wcswidth',
];
const SAMPLE = path.join(ROOT, 'samples/straggler');
const folder = folderOfFile();

it('--version and --help of a command load neither the merge nor a package other than commander', () => {
  for (const args of [['--version'], ['inspect', '--help']]) {
    const modules = modulesOf(...args);
    expect(modules).toContain('node_modules/commander/index.js');
    expect(modules).toContain('src/cli/main.ts');
    expect(roomsOf(modules)).not.toContain('node_modules/piscina');
    expect(modules).not.toContain('src/merge.ts');
  }
});

it('inspect loads nothing that draws, serves or exports', () => {
  const modules = modulesOf('inspect', SAMPLE);
  expect(roomsOf(modules)).toContain('src/verdict');
  expect(modules).not.toContain('src/trace/convert.ts');
  expect(roomsOf(modules)).not.toContain('src/export');
  expect(roomsOf(modules)).not.toContain('src/live');
  expect(packagesOf(modules)).toEqual(['commander']);
});

it('merge loads what draws and prints, and nothing that exports', () => {
  const modules = modulesOf('merge', SAMPLE, '-qo', path.join(folder, 'a.pftrace'));
  expect(modules).toContain('src/trace/convert.ts');
  expect(roomsOf(modules)).not.toContain('src/export');
  expect(packagesOf(modules)).toEqual(MERGE_PACKAGES);
});

it('takes its code from the cache; where V8 refuses the cache, it does without', () => {
  const load = pathToFileURL(path.join(ROOT, 'dist/cli/load.js')).href;
  const code = `const { isFromCache, load } = await import('${load}'); await load('cli/main.js'); console.log(isFromCache)`;
  const answer = (...flags: string[]): string =>
    spawnSync(process.execPath, [...flags, '--input-type=module', '-e', code], { encoding: 'utf8' }).stdout;
  expect(answer()).toBe('true\n');
  expect(answer('--stack-size=900')).toBe('false\n');
});

it('a cache has the name of the code that it was made of, also if another build puts its code beside it', () => {
  const root = path.join(folder, 'build');
  for (const name of ['package.json', 'dist', 'samples/straggler'])
    cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  const bundle = path.join(root, 'dist/bundle');
  const cache = readdirSync(bundle).find((name) => name.endsWith('.cache'))!;
  rmSync(path.join(bundle, cache));
  writeFileSync(path.join(bundle, 'program-00000000.js'), '');
  const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'scripts/code_cache.mjs'), root]);
  expect([status, String(stderr)]).toEqual([0, '']);
  expect(readdirSync(bundle).filter((name) => name.endsWith('.cache'))).toEqual([cache]);
});

const roomsOf = (modules: readonly string[]): Set<string> =>
  new Set(modules.map((name) => name.split('/').slice(0, 2).join('/')));

const packagesOf = (modules: readonly string[]): string[] =>
  [...roomsOf(modules)].flatMap((room) => /^node_modules\/(.*)/.exec(room)?.[1] ?? []).sort();

/** The bundle makes a function of each module, named by its path. */
function modulesOf(...args: string[]): string[] {
  const reports = path.join(folder, args.join().replaceAll('/', '_'));
  const env = { ...process.env, NODE_V8_COVERAGE: reports };
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return readdirSync(reports).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(path.join(reports, name), 'utf8')) as Coverage;
    return result
      .flatMap(({ functions }) => functions)
      .filter(
        ({ functionName, ranges }) => /^(src|node_modules)\//.test(functionName) && ranges[0]!.count > 0,
      )
      .map(({ functionName }) => functionName);
  });
}

interface Coverage {
  readonly result: readonly {
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}
