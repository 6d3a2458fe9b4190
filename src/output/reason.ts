/** Words for system errors that the user can do something about. */

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

export const reason = (error: unknown): string =>
  WORDS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file grew beyond the allowed size',
  ENOENT: 'no such file or directory',
  EEXIST: 'something else has that name',
  ENOTDIR: 'a part of the path is not a directory',
  ELOOP: 'its links lead in a circle',
};
