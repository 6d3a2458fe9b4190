/** Texts for system errors. */

/** Errors that Node does not know: it calls them "Unknown system error -122". */
const UNNAMED: Readonly<Record<string, string>> = { '-116': 'ESTALE', '-122': 'EDQUOT' };

export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  const code = String(error.code);
  return UNNAMED[/^Unknown system error (-\d+)$/.exec(code)?.[1] ?? ''] ?? code;
}

/** Leaves out the path at the end of the system's message, because it may be a path of ours. */
export const reason = (error: unknown): string =>
  WORDS[codeOf(error)] ?? (error instanceof Error ? error.message.split(',')[0]! : String(error));

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EDQUOT: 'the disk quota is used up',
  ESTALE: 'the file is gone from its server',
  EFBIG: 'the file grew beyond the allowed size',
  ENOENT: 'no such file or directory',
  EEXIST: 'something else has that name',
  ENOTDIR: 'a part of the path is not a directory',
  ELOOP: 'its links lead in a circle',
};
