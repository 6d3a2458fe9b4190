/** The .scan files that `study` was given, together. Their content is checked, and no file is in two of them. */

import { join } from 'node:path';
import { append } from '../base/extremes.js';
import { NoUsableInput } from '../base/errors.js';
import type { Sentence } from '../base/sentence.js';
import { processKey } from '../runs/runs.js';
import type { ScannedFile } from '../study/scanned_run.js';
import { SectionFile } from './sections.js';
import { StepUnpacker } from './step_rows.js';

export interface LoadedScan extends ScannedFile {
  /** Index of the scan that it is in. */
  readonly part: number;
  readonly isAlive: boolean;
}

export interface LoadedScans {
  readonly names: readonly string[];
  /** The id of each scan's content. */
  readonly ids: readonly string[];
  /** Paths of all files that were examined. */
  readonly paths: ReadonlySet<string>;
  readonly problems: readonly Sentence[];
  readonly unusable: readonly Sentence[];
  /** Their steps go into `folder`. */
  read(folder: string): Promise<LoadedScan[]>;
  close(): void;
}

/** Throws NoUsableInput. */
export function loadScans(names: readonly string[]): LoadedScans {
  const parts: SectionFile<'scan'>[] = [];
  const close = (): void => {
    for (const part of parts) part.close();
  };
  try {
    for (const name of names) parts.push(new SectionFile(name, 'scan'));
    const heads = parts.map((part) => part.value('head', 0));
    const ids = parts.map((part) => part.id);
    names.forEach((name, i) => {
      const first = ids.indexOf(ids[i]!);
      if (first !== i)
        throw new NoUsableInput(`${name}: is the same as ${names[first]}; name each scan once`);
    });
    return {
      names,
      ids,
      paths: new Set(heads.flatMap(({ files }) => files.map(({ path }) => path))),
      problems: heads.flatMap(({ problems }) => problems),
      unusable: heads.flatMap(({ unusable }) => unusable),
      read: async (folder) => {
        const files: LoadedScan[] = [];
        const unpacker = new StepUnpacker();
        for (const [i, part] of parts.entries()) append(files, await filesOf(part, i, folder, unpacker));
        await unpacker.finish();
        return onlyOnce(files, names);
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function filesOf(
  part: SectionFile<'scan'>,
  index: number,
  folder: string,
  unpacker: StepUnpacker,
): Promise<LoadedScan[]> {
  const files: LoadedScan[] = [];
  let section = 0;
  for (let i = 0; i < part.count('file'); i++) {
    const { scan, leases, isAlive, stepSections } = part.value('file', i);
    const stepPath = join(folder, `steps-${index}-${i}`);
    await unpacker.unpack(part, section, stepSections, stepPath);
    section += stepSections;
    const { path, header, communicators, heartbeat } = scan;
    const about = { path, header, communicators, heartbeat, leases };
    files.push({ ...about, scan, stepPath, readFrom: path, part: index, isAlive });
  }
  return files;
}

/** Two scans of one file would be two files of one rank. Copies of a file elsewhere are distinguished as in `merge`. */
function onlyOnce(files: LoadedScan[], names: readonly string[]): LoadedScan[] {
  const seen = new Map<string, LoadedScan>();
  for (const file of files) {
    const key = `${processKey(file)} ${file.path}`;
    const first = seen.get(key);
    if (first)
      throw new NoUsableInput(
        `${names[file.part]}: has the scan of ${file.path}, and so has ${names[first.part]}; name one of them`,
      );
    seen.set(key, file);
  }
  return files;
}
