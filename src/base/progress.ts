/**
 * The progress of a long run. A stage is reported before its work begins, because the work may occupy the thread, and after each
 * file if it goes through files. The caller decides how to show it, and how often.
 */

/** In this order: headers of all files, each file by itself, clocks, all ranks together, files of other tools, drawing or export of each file, the trace. */
export type Stage = 'headers' | 'scan' | 'clocks' | 'verdict' | 'beside' | 'convert' | 'export' | 'write';

export interface Progress {
  readonly stage: Stage;
  /** null: the stage does not go file by file. */
  readonly files: { readonly done: number; readonly total: number } | null;
}

export type OnProgress = (progress: Progress) => void;

/** Reports the beginning of the stage. Call the result after each file. */
export function countFiles(
  stage: Stage,
  total: number,
  onProgress: OnProgress = () => undefined,
): () => void {
  let done = 0;
  onProgress({ stage, files: { done, total } });
  return () => {
    onProgress({ stage, files: { done: ++done, total } });
  };
}
