/**
 * A folder held by a descriptor. Another user may rename the folder or one above it, or put a link in its place: what is done by way of the
 * descriptor is still done in this folder. Node has no openat(2), but the kernel resolves `/proc/self/fd/N/name` in the same way.
 */

import { closeSync, constants, fstatSync, openSync, readdirSync, type Dirent, type Stats } from 'node:fs';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

export class HeldFolder {
  private constructor(
    /** For people. */
    readonly path: string,
    readonly fd: number,
  ) {}

  /** A folder that a person named: links in its path are followed, the last one, too. Throws the system's errors. */
  static named(path: string): HeldFolder {
    return new HeldFolder(path, openSync(path, O_RDONLY | O_DIRECTORY));
  }

  /** A folder in this one. Throws ENOTDIR for a link, and the system's other errors. */
  folder(name: string): HeldFolder {
    return new HeldFolder(
      `${this.path}/${name}`,
      openSync(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
    );
  }

  /** The place of this name in this folder, for the functions of `fs`. A link of this name is followed unless the function does not. */
  at(name: string): string {
    return `/proc/self/fd/${this.fd}/${name}`;
  }

  get stat(): Stats {
    return fstatSync(this.fd);
  }

  entries(): Dirent[] {
    return readdirSync(this.at('.'), { withFileTypes: true });
  }

  close(): void {
    closeSync(this.fd);
  }
}
