/** `nccl-trace join`: a study and the parts of its files become the trace that `merge` would have written, byte for byte. */

import type { Writable } from 'node:stream';
import { NoUsableInput } from '../base/errors.js';
import { foldRanks } from '../base/ranks.js';
import { finishTrace, planTrace, type FinishOptions } from '../finish.js';
import { checkTraceName } from '../merge.js';
import { checkOutput } from '../output/allowed.js';
import { withWorkFolderFor } from '../output/deliver.js';
import type { MergeReport } from '../report/report.js';
import { compressed, compressionOf } from '../trace/compression.js';
import type { ConvertResult } from '../trace/convert.js';
import { OUTPUT_KINDS, TRACE } from '../trace/output_kinds.js';
import type { ProduceOptions } from './produce.js';
import { SectionFile } from './sections.js';
import type { StudyHead } from './stored.js';
import { foldersOf, loadStudy } from './study_file.js';

export interface JoinStepOptions
  extends ProduceOptions, Pick<FinishOptions, 'onProgress' | 'texts' | 'onReport'> {
  readonly study: string;
  readonly parts: readonly string[];
  readonly stdout?: Writable | undefined;
  /** Goes on without the ranks that have no part. */
  readonly allowMissing?: boolean | undefined;
}

/** Throws NoUsableInput, OutputError. */
export async function joinTrace(options: JoinStepOptions): Promise<MergeReport> {
  const { output: path, force, interrupt, stdout } = options;
  checkTraceName(path);
  const output = { path, kind: TRACE };
  const inputs = [options.study, ...options.parts];
  const permission = { force: force ?? false, inputs, others: OUTPUT_KINDS };
  const place = checkOutput(output, permission);
  const { head, studied } = loadStudy(options.study);
  const files = options.parts.map((part) => new SectionFile(part, 'part'));
  try {
    const blocks = blocksOf(files, head);
    const missing = missingOf(head, blocks, options);
    const drawing = { ...head.options, inputs: foldersOf(studied), output: path };
    const planned = planTrace(studied, drawing);
    const results = head.members.map((_, file) => blocks.get(file)?.result ?? null);
    return await withWorkFolderFor(place, interrupt, (folder) => {
      const delivery = { place, output, permission, interrupt, stdout };
      const problems = [...head.run.notes, ...missing];
      return finishTrace(planned, results, contentOf(blocks, path), delivery, folder, {
        ...options,
        ...drawing,
        problems,
      });
    });
  } finally {
    for (const file of files) file.close();
  }
}

interface Block {
  readonly part: SectionFile<'part'>;
  /** Its first section of pieces. */
  readonly first: number;
  readonly result: ConvertResult;
}

/** By member. */
function blocksOf(parts: readonly SectionFile<'part'>[], head: StudyHead): ReadonlyMap<number, Block> {
  const blocks = new Map<number, Block>();
  for (const part of parts) {
    const { study } = part.value('head', 0);
    if (study !== head.id)
      throw new NoUsableInput(
        `${part.path}: was made for another study, or for an earlier one of this run; convert the files again with this study`,
      );
    let first = 0;
    for (let i = 0; i < part.count('block'); i++) {
      const { file, result } = part.value('block', i);
      const other = blocks.get(file);
      const member = head.members[file];
      if (member?.isDrawn !== true || result.pieces.length > part.count('data') - first)
        return part.damaged('it has blocks that the study does not know');
      if (other)
        throw new NoUsableInput(
          `${part.path}: has rank ${foldRanks(member.ranks) || '?'}, and so has ${other.part.path}; name one of them`,
        );
      blocks.set(file, { part, first, result });
      first += result.pieces.length;
    }
  }
  return blocks;
}

/** Sentences, with `allowMissing`. */
function missingOf(
  { members }: StudyHead,
  blocks: ReadonlyMap<number, Block>,
  { allowMissing }: JoinStepOptions,
): string[] {
  const missing = members.filter(({ isDrawn }, file) => isDrawn && !blocks.has(file));
  if (missing.length === 0) return [];
  const ranks = foldRanks(missing.flatMap((member) => member.ranks));
  const what = `no part has rank${missing.length === 1 ? '' : 's'} ${ranks || '?'}`;
  if (allowMissing === true) return [`${what}: not drawn`];
  throw new NoUsableInput(
    `${what}; convert the files of their nodes too, or go on without them: --allow-missing`,
  );
}

/** In the order of the members. */
async function* contentOf(blocks: ReadonlyMap<number, Block>, output: string): AsyncGenerator<Uint8Array> {
  const compression = compressionOf(output);
  for (const [, { part, first, result }] of [...blocks].sort(([a], [b]) => a - b))
    for (let piece = 0; piece < result.pieces.length; piece++) {
      yield await Promise.resolve(compressed(part.bytes('data', first + piece), compression));
    }
}
