/** A file that was scanned is read again. Both passes count works, calls and operations, so they must read the same records. */

import { RankFileError } from '../base/errors.js';
import type { KernelFile } from '../kernel/host/kernel_file.js';
import { streamSegments, withFile } from '../rankfile/index.js';
import type { RankFileHeader } from '../rankfile/file_types.js';
import { type Aliases, redactFile } from '../runs/redact.js';
import type { RankScan } from '../scan/scan.js';
import type { DrawnFile } from './rank_picture.js';

export interface ScannedFile {
  /** The file, or its copy. */
  readonly path: string;
  /** The scan of the file: it must still be the same file. */
  readonly scanned: Pick<RankFileHeader, 'tag' | 'tickBase'> &
    Pick<RankScan, 'window' | 'bytes'> & { readonly heads: readonly number[] };
  /** Null: names stay. */
  readonly aliases: Aliases | null;
}

export const scannedFile = (
  { header, window, bytes, rings }: RankScan,
  path: string,
  aliases: Aliases | null,
): ScannedFile => ({
  path,
  scanned: {
    tag: header.tag,
    tickBase: header.tickBase,
    window,
    bytes,
    heads: rings.map(({ head }) => head),
  },
  aliases,
});

/** `kernel`: a new one; `use` lets it read the rings. Throws RankFileError. */
export function readScanned<T>(kernel: KernelFile, job: ScannedFile, use: (file: DrawnFile) => T): T {
  const file = streamSegments(job.path, job.scanned.window, kernel, (ring, bytes) =>
    kernel.rows(ring, bytes),
  );
  try {
    checkSame(file, job);
    const result = use(job.aliases === null ? file : redactFile(file, job.aliases));
    checkWhole(
      withFile(job.path, ({ bytes }) => bytes),
      job,
    );
    return result;
  } finally {
    file.close();
  }
}

/** Refuses a file of another process. The job's times and ends would be wrong for that file, and the output would not show the error. */
function checkSame({ path, bytes, header, rings }: DrawnFile, job: ScannedFile): void {
  const { scanned } = job;
  if (header.tag !== scanned.tag || header.tickBase !== scanned.tickBase)
    throw new RankFileError({
      path,
      what: 'the file was replaced by that of another process while it was being read',
      advice: 'start again, when nobody copies files here',
    });
  checkWhole(bytes, job);
  // If the ring had moved, each event would get the end of another.
  const heads = rings.map(({ head }) => head);
  if (heads.length !== scanned.heads.length || heads.some((head, i) => head !== scanned.heads[i]))
    throw new RankFileError({
      path,
      what: 'the file was written while it was being read',
      advice: 'copy it with "nccl-trace snapshot", and read the copy',
    });
}

/** The output of a file that was cut off since the scan would lack records without saying so. */
function checkWhole(bytes: number, { path, scanned }: ScannedFile): void {
  if (bytes < scanned.bytes)
    throw new RankFileError({
      path,
      what: 'the file was cut off while it was being read',
      advice: 'start again, when nobody copies files here',
    });
}
