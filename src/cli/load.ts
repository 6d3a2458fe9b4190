/**
 * Runs the command's code: one bundle (scripts/bundle.mjs), with V8's code cache beside it if the build made one for this Node and machine
 * (scripts/code_cache.mjs). From the cache, code is neither parsed nor compiled again. That is a third of the CPU time of a small `inspect`.
 * This file is not part of the bundle.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Its name has a hash of its code, so that no cache of other code is used: V8 only compares lengths. */
declare const NCCL_TRACE_BUNDLE: string;

type Module = Readonly<Record<string, unknown>>;
/** By the path of a source that is started by its name: loads it. */
type Bundle = Readonly<Record<string, () => Promise<Module>>>;

/**
 * Settings of V8, for this process and its threads. A cache is only good for the settings that it was made with.
 *
 * V8 optimizes what it believes to be hot, and most of what a command runs has done its work before that pays: a quarter of the CPU time of
 * `inspect` were V8's compiler threads. So code has to be eight times as hot.
 *
 * By default its compiler inlines up to 920 bytes of bytecode into one function. The loops over records call many small functions, so V8
 * compiles much code for each loop, and several times. With a third of that limit a run of 650,000 records takes a sixth fewer
 * instructions, and a long run is not slower.
 *
 * By default the heap may grow to four times its live data before V8 collects garbage. With a factor of two a run takes less memory and no
 * more time.
 */
const SETTINGS = [
  Number.parseInt(process.versions.node) < 22
    ? '--interrupt-budget=540672'
    : '--invocation-count-for-turbofan=24000',
  '--max-inlined-bytecode-size-cumulative=300',
  '--heap-growing-percent=100',
];

/** Where the bundle lies. */
export const url = new URL(NCCL_TRACE_BUNDLE, import.meta.url);

if (isMainThread) SETTINGS.forEach(setFlagsFromString);
const script = new vm.Script(readFileSync(url, 'utf8'), {
  filename: url.href,
  cachedData: cached(),
});
type Run = (require: NodeJS.Require, module: object, url: string, importModule: typeof imported) => void;
/** A script from the cache cannot import by itself. */
const imported = (name: string): Promise<unknown> => import(name);
const loaded = { exports: {} };
(script.runInThisContext() as Run)(createRequire(url), loaded, url.href, imported);
const bundle = loaded.exports as Bundle;

export const isFromCache = script.cachedDataRejected === false;

/** `source`: below src/. */
export const load = (source: string): Promise<Module> => bundle[source]!();

/** A cache with all code that has run so far. */
export const newCache = (): Buffer => script.createCachedData();

function cached(): Buffer | undefined {
  try {
    return readFileSync(new URL(`${url.href}.${process.version}-${process.arch}.cache`));
  } catch {
    return undefined;
  }
}
