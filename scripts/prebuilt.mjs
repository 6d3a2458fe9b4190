// prebuilt/<machine>/: the native files of the package, stripped, for this machine and for each other one whose cross compiler is here. Their
// symbols go to build/symbols/<machine>/; debuggers find them by the build id, or beside the stripped file by its name.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ensureNative } from './ensure_native.mjs';
import { MACHINES, PLUGIN, SHIPPED } from './native.mjs';

/** @returns {Promise<{machine: string, whyNot?: string, packs?: boolean}[]>}  packs: it has zstd */
export async function prebuild(root, { others, warningsAreErrors }) {
  rmSync(path.join(root, 'prebuilt'), { recursive: true, force: true });
  const here = Object.keys(MACHINES).find((name) => MACHINES[name].arch === process.arch);
  const made = [];
  for (const machine of others ? Object.keys(MACHINES) : [here].filter(Boolean)) {
    const cross = machine === here ? undefined : machine;
    const options = {
      root,
      what: `compiling for ${machine}`,
      machine: cross,
      warningsAreErrors,
      only: SHIPPED,
    };
    const whyNot = await ensureNative(options);
    if (whyNot === undefined) for (const name of SHIPPED) strip(root, machine, cross, name);
    const packs =
      whyNot === undefined && readFileSync(builtFile(root, cross, PLUGIN)).includes('ZSTD_compress');
    made.push({ machine, whyNot, packs });
  }
  return made;
}

const builtFile = (root, cross, name) => path.join(root, 'build', cross ?? '', name);

function strip(root, machine, cross, name) {
  const [to, symbols] = [`prebuilt/${machine}`, `build/symbols/${machine}`].map((one) =>
    path.join(root, one),
  );
  for (const folder of [to, symbols]) mkdirSync(folder, { recursive: true });
  const [built, stripped, debug] = [
    builtFile(root, cross, name),
    path.join(to, `${name}.tmp`),
    path.join(symbols, `${name}.debug`),
  ];
  const objcopy = (...args) =>
    execFileSync(
      cross === undefined ? 'objcopy' : MACHINES[machine].compiler.replace('g++', 'objcopy'),
      args,
    );
  objcopy('--only-keep-debug', built, debug);
  objcopy('--strip-unneeded', `--add-gnu-debuglink=${debug}`, built, stripped);
  renameSync(stripped, path.join(to, name));
}
