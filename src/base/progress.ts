/**
 * What a long run is at, for whoever waits. A stage is told before its work begins, since the work may keep the thread; one that
 * goes through files is told again after each. Who shows it, and how often, is not decided here.
 */

/** In their order: headers of all files, each file by itself, all clocks, what all ranks did, each file's picture, the trace. */
export type Stage = 'headers' | 'scan' | 'clocks' | 'verdict' | 'convert' | 'write';

export interface Progress {
  readonly stage: Stage;
  /** Files; null: the stage does not go file by file. */
  readonly files: { readonly done: number; readonly total: number } | null;
}

export type OnProgress = (progress: Progress) => void;

/** Tells that the stage begins; to be called after each file. */
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
