/**
 * Native programs of build/, made when a test needs them and they are not there. `npm test` has made them all; this is for a
 * test that is run by itself after `npm install`, which compiles none. What is there is not compared with its sources.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Found from here, wherever this file was compiled to (the benchmarks' copy lies below build/). */
function projectFolder(from: string): string {
  return existsSync(path.join(from, 'package.json')) ? from : projectFolder(path.dirname(from));
}

export const PROJECT = projectFolder(path.dirname(fileURLToPath(import.meta.url)));

interface Builder {
  readonly ensureNative: (options: {
    readonly root: string;
    readonly what: string;
    readonly only: readonly string[];
    readonly warningsAreErrors: boolean;
  }) => Promise<string | undefined>;
}

/** Their paths, in this order. */
export async function builtNative<const Names extends readonly string[]>(
  ...names: Names
): Promise<{ [Name in keyof Names]: string }> {
  const paths = names.map((name) => path.join(PROJECT, 'build', name));
  const only = names.filter((_, i) => !existsSync(paths[i]!));
  if (only.length > 0) {
    const what = `building ${only.join(', ')}`;
    const script = pathToFileURL(path.join(PROJECT, 'scripts/ensure_native.mjs')).href;
    const { ensureNative } = (await import(/* @vite-ignore */ script)) as Builder;
    const whyNot = await ensureNative({ root: PROJECT, what, only, warningsAreErrors: false });
    if (whyNot !== undefined) throw new Error(whyNot);
  }
  return paths as { [Name in keyof Names]: string };
}

/** Each source in native/test/ or native/bench/ is a program of its name. */
export const programsOf = (folder: 'test' | 'bench'): string[] =>
  readdirSync(path.join(PROJECT, 'native', folder))
    .filter((name) => name.endsWith('.cc'))
    .map((name) => path.basename(name, '.cc'));
