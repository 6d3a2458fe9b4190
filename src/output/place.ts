/**
 * Where an output goes, found before a byte is written: a file with all links followed, a stream (FIFO, terminal, /dev/null), or a
 * descriptor that is already open ("-", /dev/stdout, a shell's >(...)). allowed.ts decides what may be replaced.
 */

import { fstatSync, readlinkSync, realpathSync, statSync, type BigIntStats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { OutputError } from '../base/errors.js';
import { about } from '../base/sentence.js';
import { codeOf, reason } from '../base/reason.js';

export const STDOUT = '-';

interface Common {
  /** As the user named it. */
  readonly named: string;
  /** Device and inode; null if nothing is there yet. Two names of one file have the same id. */
  readonly id: string | null;
}

/** Written under another name beside it, then renamed. */
export interface FilePlace extends Common {
  readonly kind: 'file';
  /** With links followed: the file is replaced, not a link to it. */
  readonly path: string;
  /** null: nothing is there yet. */
  readonly bytes: bigint | null;
  /** Owner and permissions of what is there. */
  readonly access: { readonly uid: number; readonly mode: number } | null;
}

/** Opened and written to. */
export interface StreamPlace extends Common {
  readonly kind: 'fifo' | 'device';
}

/** Written to directly. */
export interface DescriptorPlace extends Common {
  readonly kind: 'descriptor';
  readonly fd: number;
}

export type Place = FilePlace | StreamPlace | DescriptorPlace;

/** Throws OutputError for what cannot be an output. */
export function placeOf(named: string): Place {
  const fd = descriptorOf(named);
  if (fd !== null) return { kind: 'descriptor', named, fd, id: idOf(descriptorStat(named, fd)) };
  const stat = statOf(named);
  if (stat === null)
    return { kind: 'file', named, path: newFile(named), bytes: null, access: null, id: null };
  const id = idOf(stat);
  const access = { uid: Number(stat.uid), mode: Number(stat.mode) & 0o777 };
  if (stat.isFile()) return { kind: 'file', named, path: realpathSync(named), bytes: stat.size, access, id };
  if (stat.isFIFO()) return { kind: 'fifo', named, id };
  if (stat.isCharacterDevice()) return { kind: 'device', named, id };
  throw new OutputError(named, ...unfit(stat));
}

export const idOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`;

/** Opening /dev/stdout again would start at its beginning, and overwrite what `>> log` had there. */
function descriptorOf(named: string): number | null {
  if (named === STDOUT) return 1;
  let path = resolve(named);
  for (let links = 0; links < MOST_LINKS; links++) {
    const own = /^(?:\/dev\/fd|\/proc\/(?:self|thread-self|(\d+))\/fd)\/(\d+)$/.exec(path);
    if (own && (own[1] === undefined || own[1] === ownPid())) return Number(own[2]);
    const next = linkOf(path);
    if (next === null) return null;
    path = next;
  }
  return null;
}

const ownPid = (): string | null => linkOf('/proc/self')?.slice('/proc/'.length) ?? null;

/** The kernel's limit. */
const MOST_LINKS = 40;

function linkOf(path: string): string | null {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return null; // no link
  }
}

function descriptorStat(named: string, fd: number): BigIntStats {
  try {
    return fstatSync(fd, { bigint: true });
  } catch (error) {
    throw new OutputError(named, 'is not open', 'open it in the shell, or name a file', { cause: error });
  }
}

/** null: nothing is there, or a link to nothing. */
function statOf(named: string): BigIntStats | null {
  try {
    return statSync(named, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new OutputError(named, reason(error), 'choose another name', { cause: error });
  }
}

/** Where a new file would be. Who made a link to nothing, in a shared directory, may lead us anywhere. */
function newFile(named: string): string {
  const path = resolve(named);
  if (linkOf(path) !== null)
    throw new OutputError(named, 'is a link to nothing', 'remove it, or name the file itself');
  const folder = dirname(path);
  const stat = statOf(folder);
  if (stat === null)
    throw new OutputError(
      named,
      about`there is no directory ${{ path: folder }}`,
      'create the directory first',
    );
  if (!stat.isDirectory())
    throw new OutputError(named, about`${{ path: folder }} is not a directory`, 'choose another name');
  return join(realpathSync(folder), basename(path));
}

function unfit(stat: BigIntStats): [what: string, advice: string] {
  if (stat.isDirectory()) return ['is a directory', 'name a file in it'];
  if (stat.isBlockDevice()) return ['is a disk, and what it holds would be lost', 'name a file'];
  return ['is a socket', 'name a file, a FIFO, or - for the standard output'];
}
