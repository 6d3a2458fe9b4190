/**
 * Files built from C++, in build/ next to dist/. An install compiles only the addon, so the first command that needs another file
 * builds it. A package made by `npm pack` has all of them for several machines in prebuilt/, and no sources.
 */

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { NoUsableInput } from '../base/errors.js';
import { projectFile } from '../base/project.js';
import { nativeFile } from '../rankfile/native_file.js';
import { say } from './streams.js';

export const PLUGIN = 'libnccl-profiler-trace.so';
export const LOOPBACK = 'nccl-trace-loopback';

/** scripts/ensure_native.mjs, loaded only when needed. */
interface Builder {
  readonly ensureNative: (options: {
    readonly root: string;
    readonly what: string;
    readonly only: readonly string[];
    readonly warningsAreErrors: boolean;
    readonly onStart: () => void;
  }) => Promise<string | undefined>;
}

/** Given to the bundle, whose own `import` is a `require` (cli/load.ts). */
declare const importModule: ((url: string) => Promise<unknown>) | undefined;

/** Their paths, in this order. Missing files are built first, once, which takes up to a minute. */
export async function nativeFiles<const Names extends readonly string[]>(
  ...names: Names
): Promise<{ [Name in keyof Names]: string }> {
  const paths = names.map((name) => nativeFile(name));
  const missing = names.filter((_, i) => !existsSync(paths[i]!));
  if (missing.length > 0) await build(missing);
  return paths as { [Name in keyof Names]: string };
}

async function build(names: readonly string[]): Promise<void> {
  const script = projectFile('scripts/ensure_native.mjs');
  const list = names.join(' and ');
  if (!existsSync(script)) {
    throw new NoUsableInput(
      `this package has no ${list} for ${process.arch}: make it with "npm pack" where there is a C++ compiler for this machine`,
    );
  }
  const { href } = pathToFileURL(script);
  const { ensureNative } = (await (typeof importModule === 'undefined'
    ? import(href)
    : importModule(href))) as Builder;
  const whyNot = await ensureNative({
    root: projectFile('.'),
    what: 'compiling',
    only: names,
    warningsAreErrors: false,
    onStart: () => {
      say(`building ${list}: once, up to a minute\n`);
    },
  }).catch((error: unknown) => {
    // By its name, because the class belongs to the script.
    if (!(error instanceof Error) || error.name !== 'NativeBuildError') throw error;
    throw new NoUsableInput(`${list} cannot be built here: ${error.message}`, { cause: error });
  });
  if (whyNot !== undefined) throw new NoUsableInput(whyNot);
}
