/** Commands as one of two users beside root. Only root can become another user, so elsewhere such tests are skipped. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROGRAM } from './program.js';

/** Nobody's: they need no entry in /etc/passwd. */
export const ALICE = 54_321;
export const BOB = 54_322;

/** Words to put before a command line. */
export const become = (user: number): string[] => [
  ...['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'],
  '--',
];

/** Why there are not two users here; null: there are. The users must be able to read the built program, too. */
export const NOT_TWO_USERS =
  process.getuid!() !== 0
    ? 'not root'
    : spawnSync('setpriv', [...become(ALICE).slice(1), process.execPath, PROGRAM, '--version']).status === 0
      ? null
      : 'setpriv does not work here, or other users may not read this checkout';

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `nccl-trace` as this user; 0: as root. */
export function asUser(user: number, cwd: string, ...args: string[]): Said {
  const command = [process.execPath, PROGRAM, ...args];
  const [program = '', ...rest] = user === 0 ? command : [...become(user), ...command];
  // In a folder that all may write to, if the test has one.
  const shared = path.join(cwd, 'shared');
  const { status, stdout, stderr } = spawnSync(program, rest, {
    ...{ cwd, encoding: 'utf8', timeout: 60_000 },
    env: { ...process.env, HOME: '/nonexistent', TMPDIR: existsSync(shared) ? shared : '/tmp' },
  });
  return { code: status, out: stdout, err: stderr };
}

/** Any program as this user. Throws if it fails. */
export const shellAs = (user: number, cwd: string, script: string): string =>
  execFileSync('setpriv', [...become(user).slice(1), 'sh', '-c', script], { cwd, encoding: 'utf8' });

/** Gives a file or a folder with all in it to the user. */
export function give(user: number, file: string): void {
  execFileSync('chown', ['-R', `${user}:${user}`, file]);
}

/** A folder that root made, in which ALICE and BOB have one each: `alice`, `bob`. */
export function twoHomes(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-users-'));
  chmodSync(folder, 0o755);
  for (const [name, user] of Object.entries({ alice: ALICE, bob: BOB })) {
    mkdirSync(path.join(folder, name));
    chownSync(path.join(folder, name), user, user);
  }
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every file below: its path. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
