/**
 * One unit of work for a worker thread. Expected failures are returned as values, because error classes are lost between threads.
 */

import { RankFileError } from '../base/errors.js';
import type { Sentence } from '../base/sentence.js';
import type { StepsJob } from '../export/steps.js';
import type { ConvertJob, ConvertResult } from '../trace/convert.js';
import type { NetworkJob, networkLanes } from '../trace/network_lanes.js';
import { freeze, isStopped, mayBeWritten } from '../rankfile/index.js';
import type { ReadWindow } from '../rankfile/file_types.js';
import { scanFile, type RankScan, type StepsWanted } from '../scan/scan.js';

export type Task =
  | {
      readonly pass: 'scan';
      readonly path: string;
      readonly steps: StepsWanted | null;
      /** The part of the file to read; null: all of it. */
      readonly window: ReadWindow | null;
      /** Where a file that may still be written is copied to, because it will be read again; null: it is read once. */
      readonly frozen: string | null;
    }
  | { readonly pass: 'convert'; readonly job: ConvertJob }
  | { readonly pass: 'export'; readonly job: StepsJob }
  | { readonly pass: 'network'; readonly job: NetworkJob };

export type Outcome =
  /** `readFrom`: after a scan, the file itself or its copy. */
  | {
      readonly ok: true;
      readonly scan?: RankScan;
      readonly readFrom?: string;
      readonly block?: ConvertResult;
      /** Of its table of transfers. */
      readonly rows?: number;
      readonly network?: ReturnType<typeof networkLanes>;
    }
  /** The file cannot be used: a sentence for the user. */
  | { readonly ok: false; readonly unusable: Sentence }
  /** The system refused (disk full …): its error code and text. */
  | { readonly ok: false; readonly system: { readonly code: string; readonly message: string } };

/** The code that draws or exports is loaded by the first file that needs it. */
export async function runTask(task: Task): Promise<Outcome> {
  try {
    if (task.pass === 'scan') return scan(task);
    if (task.pass === 'export')
      return { ok: true, rows: await (await import('../export/steps.js')).exportSteps(task.job) };
    if (task.pass === 'network')
      return { ok: true, network: (await import('../trace/network_lanes.js')).networkLanes(task.job) };
    const { convertFile } = await import('../trace/convert.js');
    return { ok: true, block: convertFile(task.job) };
  } catch (error) {
    if (error instanceof RankFileError) return { ok: false, unusable: error.sentence };
    if (isSystemError(error)) return { ok: false, system: { code: error.code, message: error.message } };
    throw error;
  }
}

function scan({ path, steps, window, frozen }: Task & { readonly pass: 'scan' }): Outcome {
  if (frozen === null || !mayBeWritten(path))
    return { ok: true, scan: scanFile(path, steps, window), readFrom: path };
  freeze(path, frozen);
  const copied = scanFile(frozen, steps, window);
  // The process has the file itself open, not its copy.
  const scan = { ...copied, path, isStopped: isStopped({ path, header: copied.header }) };
  return { ok: true, scan, readFrom: frozen };
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** Called by the thread pool. */
export default runTask;
