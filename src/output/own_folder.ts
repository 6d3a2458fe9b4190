/**
 * A folder for what is written beside jobs of other users, often as root: no other user may change what lies in it, or put another folder in
 * its place.
 */

import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { OutputError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { about } from '../base/sentence.js';
import { HeldFolder } from './held_folder.js';
import { makeFolder } from './make_folder.js';

/** Who writes, as the kernel checks it. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Makes the folder, with mode 0700, if it is missing. `advice`: for the user, which folder to name. Throws OutputError. */
export function openOwnFolder(folder: string, user: User, advice: string): HeldFolder {
  const real = checkOwnFolder(folder, user, advice);
  try {
    makeFolder(real, 0o700);
    return HeldFolder.named(real);
  } catch (error) {
    throw new OutputError(folder, reason(error), advice, { cause: error });
  }
}

/**
 * The folder with all links followed. Makes nothing. Root may write everywhere, so for root every folder above must be safe. The folders of
 * a user often lie below those of a colleague, so for a user it is the folder and the one above it. Throws OutputError.
 */
export function checkOwnFolder(folder: string, user: User, advice: string): string {
  try {
    const real = realPath(path.resolve(folder));
    for (let at = real, above = 0; user.uid === 0 || above < 2; at = path.dirname(at), above++) {
      const why = whyShared(at, user);
      if (why !== null) throw new OutputError(folder, about`${{ path: at }} ${why}`, advice);
      if (at === path.dirname(at)) break;
    }
    return real;
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(folder, reason(error), advice, { cause: error });
  }
}

/** What does not exist yet stays as it is. */
function realPath(at: string): string {
  try {
    return realpathSync(at);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return path.join(realPath(path.dirname(at)), path.basename(at));
  }
}

/** null: nobody but this user and root can change it. In a sticky folder (/tmp) everybody changes only what is theirs. */
function whyShared(folder: string, user: User): string | null {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const { uid, gid, mode } = stat;
  // In a user namespace the host's root has another number.
  if (uid !== user.uid && uid !== statSync('/').uid) return `belongs to user ${uid}`;
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== user.gid);
  return isShared && (mode & 0o1000) === 0 ? 'may be changed by other users' : null;
}
