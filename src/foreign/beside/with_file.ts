/** What `--with` names. */

import { UsageError } from '../../base/errors.js';

/** One file, with what the command line says of its rank. */
export interface WithFile {
  readonly path: string;
  readonly rank: number | null;
}

/** Throws UsageError for a run whose names are hidden. */
export function refuseRedacted(files: readonly WithFile[], isRedacted: boolean | undefined): void {
  if (isRedacted && files.length > 0)
    throw new UsageError('--redact cannot hide the names in files of --with; leave one of the two out');
}
