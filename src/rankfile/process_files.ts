/**
 * Whether a process is the one that writes a rank file. A pid and a start time in a file prove nothing: whoever made the file chose them, and
 * in another time namespace the start time is another number. The recorder's process belongs to the owner of the rank file, and has its
 * rings or the file in its memory, or the file open.
 */

import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { livingFolder, openFiles, orNull } from './process_folder.js';
import type { RankFileHeader } from './file_types.js';

/** A rank file, and what it says about its writer. */
export interface WrittenFile {
  readonly path: string;
  readonly header: Pick<RankFileHeader, 'process' | 'tag' | 'snapshotRealtime'>;
}

/** null: the kernel does not tell this user. */
export function isWrittenBy(pid: number, { path, header }: WrittenFile): boolean | null {
  const file = stat(path);
  const folder = livingFolder(pid);
  if (file === null || folder === null) return null;
  const isOwn = isOwnedBy(folder, file.uid);
  if (isOwn !== true) return isOwn;
  const maps = orNull(() => readFileSync(`${folder}/maps`, 'latin1'));
  if (maps !== null && (isMapped(maps, file) || maps.includes(`/${ringNameOf(header)}`))) return true;
  const isOpen = hasOpen(folder, path, file);
  return maps === null && isOpen === false ? null : isOpen;
}

const stat = (path: string): Stats | null => orNull(() => statSync(path));

/** "Uid: real effective saved filesystem". A process may have changed some of them since it made the file. */
function isOwnedBy(folder: string, owner: number): boolean | null {
  const status = orNull(() => readFileSync(`${folder}/status`, 'latin1'));
  const [, uids] = /^Uid:\s*(.*)$/m.exec(status ?? '') ?? [];
  return uids === undefined ? null : uids.split(/\s+/).includes(String(owner));
}

/** "7f00-7f10 rw-s 00000000 fe:00 1234   /path" */
function isMapped(maps: string, { dev, ino }: Stats): boolean {
  const number = BigInt(dev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & 0xfffff000n);
  const minor = (number & 0xffn) | ((number >> 12n) & 0xfffff00n);
  const device = [major, minor].map((part) => part.toString(16).padStart(2, '0')).join(':');
  return new RegExp(`^\\S+ \\S+ \\S+ ${device} ${ino}(\\s|$)`, 'm').test(maps);
}

/** The recorder's name for its ring file: FormatProcessName in native/plugin/process/process_name.cc. */
const ringNameOf = ({ process, tag }: WrittenFile['header']): string =>
  `${process.pidNamespace}-${process.pid}-${process.startTime}-${tag.toString(16).padStart(16, '0')}.ring`;

/** For rings in memory. Only a descriptor with the file's path is looked at, because the disk of another one may hang. */
function hasOpen(folder: string, path: string, file: Stats): boolean | null {
  const real = orNull(() => realpathSync(path));
  const open = openFiles(folder);
  if (real === null || open === null) return null;
  const isSame = (one: Stats | null): boolean => one?.dev === file.dev && one.ino === file.ino;
  return [...open].some(([link, target]) => target === real && isSame(stat(link)));
}
