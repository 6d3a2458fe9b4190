/**
 * What is made of C++: next to dist/, in build/. An install compiles none of it but the addon, so the first command that needs
 * one makes it. A package that `npm pack` made has it, and has no sources.
 */

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { NoUsableInput } from '../base/errors.js';
import { projectFile } from '../base/project.js';
import { say } from './streams.js';

export const PLUGIN = 'libnccl-profiler-trace.so';
export const LOOPBACK = 'nccl-trace-loopback';

/** scripts/ensure_native.mjs, which is loaded where it is there and needed. */
interface Builder {
  readonly ensureNative: (options: {
    readonly root: string;
    readonly what: string;
    readonly only: readonly string[];
    readonly warningsAreErrors: boolean;
  }) => Promise<string | undefined>;
}

/** Their paths, in this order. What is missing is built first, which takes a minute, once. */
export async function nativeFiles<const Names extends readonly string[]>(
  ...names: Names
): Promise<{ [Name in keyof Names]: string }> {
  const paths = names.map((name) => projectFile(`build/${name}`));
  const missing = names.filter((_, i) => !existsSync(paths[i]!));
  if (missing.length > 0) await build(missing);
  return paths as { [Name in keyof Names]: string };
}

async function build(names: readonly string[]): Promise<void> {
  const script = projectFile('scripts/ensure_native.mjs');
  const list = names.join(' and ');
  if (!existsSync(script)) {
    throw new NoUsableInput(
      `this package came without ${list}: run "npm pack" again, where a C++ compiler is`,
    );
  }
  say(`building ${list}: once, about a minute\n`);
  const { ensureNative } = (await import(pathToFileURL(script).href)) as Builder;
  const whyNot = await ensureNative({
    root: projectFile('.'),
    what: 'compiling',
    only: names,
    warningsAreErrors: false,
  }).catch((error: unknown) => {
    // By its name: the class is the script's own.
    if (!(error instanceof Error) || error.name !== 'NativeBuildError') throw error;
    throw new NoUsableInput(`${list} cannot be built here: ${error.message}`, { cause: error });
  });
  if (whyNot !== undefined) throw new NoUsableInput(whyNot);
}
