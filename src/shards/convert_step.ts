/** `nccl-trace convert`: the second pass over some files of a studied run, on the host that has them. `join` puts the parts together. */

import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { NoUsableInput, OutputError, RankFileError, UsageError } from '../base/errors.js';
import { countFiles, type OnProgress } from '../base/progress.js';
import { foldRanks } from '../base/ranks.js';
import { sentenceText, type Sentence } from '../base/sentence.js';
import { findRankFiles, openRankFileTables } from '../rankfile/index.js';
import { processKey } from '../runs/runs.js';
import { failure } from '../study/scanned_run.js';
import { startWorkers } from '../study/workers.js';
import { produce, type ProduceOptions } from './produce.js';
import { SectionFile, type SectionWriter } from './sections.js';
import type { StudyHead } from './stored.js';

export interface ConvertStepOptions extends ProduceOptions {
  readonly study: string;
  /** Rank files and directories of them. */
  readonly inputs: readonly string[];
  readonly jobs?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export interface PartMade {
  readonly files: number;
  readonly slices: number;
  /** Files that do not belong to the study. */
  readonly problems: readonly Sentence[];
}

/** null: a valid part of the same files exists already. Throws NoUsableInput, RankFileError, UsageError, OutputError. */
export async function makePart(options: ConvertStepOptions): Promise<PartMade | null> {
  const study = new SectionFile(options.study, 'study');
  try {
    const head = study.value('head', 0);
    const found = findRankFiles(options.inputs);
    const { paths, problems } = filesOf(head, found.files);
    const wanted = [...paths.keys()].filter((file) => head.members[file]!.isDrawn).sort((a, b) => a - b);
    const isSame = (part: SectionFile<'part'>): boolean => {
      const there = part.value('head', 0);
      return there.study === head.id && String(there.files) === String(wanted);
    };
    return await produce('part', options, [options.study, ...found.files], isSame, async (writer, folder) => {
      writer.value('head', { study: head.id, files: wanted });
      const jobs = wanted.map((file) => ({
        ...study.value('job', jobIndex(head, file)),
        path: paths.get(file)!,
        compression: 'none' as const,
        blockPath: join(folder, `block-${file}`),
      }));
      const workers = startWorkers([...paths.values()], 1, options);
      let slices = 0;
      try {
        const outcomes = await workers.run(
          jobs.map((job) => ({ pass: 'convert', job })),
          countFiles('convert', jobs.length, options.onProgress),
        );
        outcomes.forEach((outcome, i) => {
          if (!outcome.ok || !outcome.block)
            throw new OutputError(options.output, failure(outcome), 'nothing was written');
          const result = outcome.block;
          slices += result.counts.slices;
          writer.value('block', { file: wanted[i]!, result });
          writePieces(writer, jobs[i]!.blockPath, result.pieces);
        });
      } finally {
        await workers.close();
      }
      return { files: wanted.length, slices, problems: [...found.problems, ...problems] };
    });
  } finally {
    study.close();
  }
}

/** Jobs are in the order of the members that are drawn. */
const jobIndex = ({ members }: StudyHead, file: number): number =>
  members.slice(0, file).filter(({ isDrawn }) => isDrawn).length;

/** By member: its file, found by its process and not by its name. */
function filesOf(
  { members }: StudyHead,
  files: readonly string[],
): { readonly paths: ReadonlyMap<number, string>; readonly problems: readonly Sentence[] } {
  const byProcess = new Map(members.map(({ process }, file) => [process, file]));
  const paths = new Map<number, string>();
  const problems: Sentence[] = [];
  for (const path of files) {
    const file = byProcess.get(processOf(path, problems) ?? '');
    if (file === undefined) {
      problems.push([{ path }, ': is no file of this study and is left out']);
      continue;
    }
    const first = paths.get(file);
    if (first !== undefined)
      throw new UsageError(
        `${path}: is of the same process as ${first} (rank ${foldRanks(members[file]!.ranks) || '?'}); name the one that was scanned`,
      );
    paths.set(file, path);
  }
  if (paths.size === 0)
    throw new NoUsableInput(
      `none of the ${files.length} files is of this study${problems
        .slice(0, 3)
        .map((one) => `\n  ${sentenceText(one)}`)
        .join('')}`,
    );
  return { paths, problems };
}

function processOf(path: string, problems: Sentence[]): string | null {
  try {
    return processKey(openRankFileTables(path));
  } catch (error) {
    if (!(error instanceof RankFileError)) throw error;
    problems.push(error.sentence);
    return null;
  }
}

/** The same pieces as in a trace of one `merge`. Each piece is compressed by itself. */
function writePieces(writer: SectionWriter<'part'>, path: string, pieces: readonly number[]): void {
  const fd = openSync(path, 'r');
  try {
    for (const length of pieces) {
      const piece = Buffer.alloc(length);
      for (let at = 0; at < length;) at += readSync(fd, piece, at, length - at, null);
      writer.bytes('data', piece);
    }
  } finally {
    closeSync(fd);
  }
}
