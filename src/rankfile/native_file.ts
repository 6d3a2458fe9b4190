/** Where the files are that were built from C++: in build/ of a checkout, or in prebuilt/ of a package, for several machines. */

import { existsSync } from 'node:fs';
import { arch } from 'node:os';
import { projectFile } from '../base/project.js';

/** Machines for which a package has native files, by Node's names (MACHINES in scripts/native.mjs). */
export const MACHINES = { x64: 'x86_64', arm64: 'aarch64' } as const;
export type Machine = (typeof MACHINES)[keyof typeof MACHINES];
/** null: no package has files for it. */
export const THIS_MACHINE: Machine | null =
  arch() in MACHINES ? MACHINES[arch() as keyof typeof MACHINES] : null;

/** A file built from C++: of a checkout, else of the package. It may not be there. `machine`: another one than this. */
export function nativeFile(name: string, machine = THIS_MACHINE): string {
  const built = projectFile(machine === THIS_MACHINE ? `build/${name}` : `build/${machine}/${name}`);
  const packed = projectFile(`prebuilt/${machine}/${name}`);
  return !existsSync(built) && existsSync(packed) ? packed : built;
}
