/**
 * `--with`: files of other tools. Each is read, admitted or refused, used and forgotten before the next, so memory does not grow with their
 * number.
 */

import { join } from 'node:path';
import { countFiles, type OnProgress } from '../../base/progress.js';
import type { Study } from '../../study/study.js';
import { admit, type Admitted } from './door.js';
import type { ForeignTrace } from './foreign_trace.js';
import { readKineto } from './kineto.js';
import type { Operations } from './numbered_work.js';
import { isSqlite, pidOf, processesOf, readNsys } from './nsys.js';
import { Refusal, type RefusalKind } from './refusal.js';
import type { WithFile } from './with_file.js';

/** What is read at once: a file, or one process of it. */
export interface WithPart extends WithFile {
  /** As the file names it; null: the whole file. */
  readonly process: bigint | null;
}

export interface RefusedReport {
  readonly path: string;
  readonly refused: RefusalKind;
  /** What was expected and found, and what to do. */
  readonly why: string;
}

export interface BesideOptions {
  readonly strict?: boolean | undefined;
  readonly interrupt?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * The processes in each file. A file that cannot be read is one part, which is refused when it is drawn. If a file has several, the command line
 * names the rank of one of them: that which wrote the rank's file.
 */
export function partsOf(files: readonly WithFile[], { run }: Study, folder: string): WithPart[] {
  return files.flatMap((file) => {
    const processes = isSqlite(file.path) ? unlessRefused(file.path, join(folder, 'beside.sqlite')) : [];
    const isOfRank = (id: bigint): boolean =>
      run.members.some(
        ({ ranks, scan }) => ranks.includes(file.rank!) && scan.header.process.pid === pidOf(id),
      );
    const wanted = file.rank === null || processes.length < 2 ? processes : processes.filter(isOfRank);
    return (wanted.length === 0 ? [null] : wanted).map((process) => ({ ...file, process }));
  });
}

function unlessRefused(path: string, link: string): bigint[] {
  try {
    return processesOf(path, link);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [];
  }
}

/** `use` is given an admitted part, which is gone afterwards. Throws Interrupted, and with `strict` Refusal. */
export async function eachPart<T>(
  parts: readonly WithPart[],
  study: Study,
  { folder, strict, interrupt, onProgress }: BesideOptions & { readonly folder: string },
  use: (trace: ForeignTrace, admitted: Admitted, index: number) => Promise<T> | T,
): Promise<(T | RefusedReport)[]> {
  const results: (T | RefusedReport)[] = [];
  const operations: Operations = new Map();
  const done = parts.length > 0 ? countFiles('beside', parts.length, onProgress) : () => undefined;
  for (const [index, part] of parts.entries()) {
    const { path, rank } = part;
    try {
      const trace = await readPart(part, join(folder, `beside-${index}`), interrupt);
      try {
        results.push(await use(trace, admit(path, trace, rank, study, operations), index));
      } finally {
        trace.events.close();
      }
    } catch (error) {
      if (!(error instanceof Refusal) || strict) throw error;
      results.push({ path, refused: error.kind, why: error.message });
    }
    done();
  }
  return results;
}

async function readPart(
  { path, rank, process }: WithPart,
  sideFile: string,
  interrupt: AbortSignal | undefined,
): Promise<ForeignTrace> {
  if (process !== null) return readNsys(path, process, sideFile, interrupt);
  if (!isSqlite(path)) return readKineto(path, sideFile, interrupt);
  // Says why the file cannot be read.
  const processes = processesOf(path, `${sideFile}.sqlite`);
  if (processes.length === 0)
    throw new Refusal('not-a-trace', {
      path,
      what: 'no process in the file used a GPU',
      advice: 'record with nsys profile --trace=cuda,nvtx',
    });
  throw new Refusal('rank-unknown', {
    path,
    what: `none of its processes wrote the file of rank ${rank}`,
    found: `processes ${processes.map(pidOf).join(', ')}`,
    advice: 'leave the rank out, or record one process per file',
  });
}
