/**
 * How each step of a merge makes its file: as a whole or not at all. If a valid file of the same input exists, it is not made again,
 * because schedulers start tasks twice.
 */

import { join } from 'node:path';
import { NoUsableInput, OutputError } from '../base/errors.js';
import { checkOutput, type OutputKind } from '../output/allowed.js';
import { deliver, withWorkFolderFor } from '../output/deliver.js';
import { reason } from '../base/reason.js';
import { contentOf } from '../trace/output.js';
import { OUTPUT_KINDS } from '../trace/output_kinds.js';
import { isOfKind } from './file_kind.js';
import { SectionFile, SectionWriter, type FileKind } from './sections.js';

export interface ProduceOptions {
  readonly output: string;
  readonly force?: boolean | undefined;
  readonly interrupt?: AbortSignal | undefined;
}

const kindOf = (kind: FileKind): OutputKind => ({
  name: `a .${kind}`,
  option: `-o ${kind === 'study' ? 'run' : 'node'}.${kind}`,
  wrote: (path) => isOfKind(path, kind),
});

/**
 * `isSame`: whether an existing valid file has the same input. `make`: writes the sections; its folder is beside the output. Returns the
 * result of `make`, or null if nothing had to be done.
 */
export async function produce<Kind extends FileKind, T>(
  kind: Kind,
  { output, force, interrupt }: ProduceOptions,
  inputs: readonly string[],
  isSame: (there: SectionFile<Kind>) => boolean,
  make: (writer: SectionWriter<Kind>, folder: string) => Promise<T>,
): Promise<T | null> {
  const own = kindOf(kind);
  const there = force ? 'none' : whatIsThere(output, kind, isSame);
  if (there === 'same') return null;
  const permission = { force: force === true || there === 'damaged', inputs, others: [own, ...OUTPUT_KINDS] };
  const asked = { path: output, kind: own };
  const place = checkOutput(asked, permission);
  return withWorkFolderFor(place, interrupt, async (folder) => {
    const draft = join(folder, 'sections');
    const writer = new SectionWriter(draft, kind);
    try {
      const made = await make(writer, folder);
      writer.close();
      const delivery = { place, output: asked, permission, interrupt };
      await deliver(delivery, folder, contentOf([draft]));
      return made;
    } catch (error) {
      if (error instanceof Error && 'syscall' in error)
        throw new OutputError(output, reason(error), 'nothing was written', { cause: error });
      throw error;
    }
  });
}

function whatIsThere<Kind extends FileKind>(
  path: string,
  kind: Kind,
  isSame: (there: SectionFile<Kind>) => boolean,
): 'same' | 'other' | 'damaged' | 'none' {
  try {
    if (!isOfKind(path, kind)) return 'other';
  } catch {
    return 'none';
  }
  try {
    const file = new SectionFile(path, kind);
    try {
      file.checkAll();
      return isSame(file) ? 'same' : 'other';
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof NoUsableInput) return 'damaged';
    throw error;
  }
}
