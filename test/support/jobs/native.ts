/** Native programs in build/. Those that a test needs are built anew before, where a source of theirs has changed, and no others. */

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFile } from '../../../src/base/project.js';
import type * as Builder from '../../../scripts/ensure_native.mjs';

export const PROJECT = path.resolve(projectFile('.'));

/** Once in a process. */
const building = new Map<string, Promise<string | undefined>>();

/** Their paths, in this order. */
export async function builtNative<const Names extends readonly string[]>(
  ...names: Names
): Promise<{ [Name in keyof Names]: string }> {
  // By its path, because benchmarks run this code from build/, where scripts/ is not.
  const { ensureNative } = (await import(
    pathToFileURL(projectFile('scripts/ensure_native.mjs')).href
  )) as typeof Builder;
  for (const name of names) {
    const options = { root: PROJECT, what: 'compiling for tests', warningsAreErrors: false, only: [name] };
    if (!building.has(name)) building.set(name, ensureNative(options));
    const whyNot = await building.get(name);
    if (whyNot !== undefined) throw new Error(whyNot);
  }
  return names.map((name) => path.join(PROJECT, 'build', name)) as { [Name in keyof Names]: string };
}
