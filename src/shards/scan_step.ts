/** `nccl-trace scan`: the first pass over some files of a run, on the host that has them. It writes a .scan, which `study` reads. */

import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { OnProgress } from '../base/progress.js';
import type { Sentence } from '../base/sentence.js';
import { findRankFiles } from '../rankfile/index.js';
import { findRuns, type FileInRun, type RunOptions } from '../runs/find_runs.js';
import { ranksAmong } from '../runs/runs.js';
import { pickFrom, scanFiles } from '../study/scanned_run.js';
import { seemAlive, stillAlive } from '../study/second_look.js';
import { startWorkers } from '../study/workers.js';
import { readWindows } from '../study/read_windows.js';
import { checkRequest, type SelectionRequest } from '../trace/selection.js';
import { produce, type ProduceOptions } from './produce.js';
import { stepSections, writeSteps } from './step_rows.js';
import type { InputFile, ScanHead } from './stored.js';

export interface ScanStepOptions extends ProduceOptions, Pick<RunOptions, 'run'> {
  readonly inputs: readonly string[];
  /** The time asked for. Of stream files only that time is read. */
  readonly select?: SelectionRequest | undefined;
  /** ns: how much is read before and after the selected time (study/read_windows.ts). */
  readonly aroundNs?: number | undefined;
  readonly jobs?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export interface ScanMade {
  readonly files: number;
  readonly records: number;
  /** Bytes of the rank files. */
  readonly bytes: number;
  readonly problems: readonly Sentence[];
}

/** null: a valid file of the same input exists already. Throws NoUsableInput, RankFileError, UsageError, OutputError. */
export async function makeScan(options: ScanStepOptions): Promise<ScanMade | null> {
  checkRequest(options.select ?? {});
  const found = findRankFiles(options.inputs);
  const looked = found.files.map(inputFile);
  const { run, select } = options;
  const isSame = (head: ScanHead): boolean =>
    head.run === run &&
    isDeepStrictEqual(given(head.select), given(select)) &&
    text(head.files) === text(looked);
  return produce(
    'scan',
    options,
    found.files,
    (there) => isSame(there.value('head', 0)),
    async (writer, folder) => {
      const { runs, unusable } = findRuns(found.files, options.onProgress);
      const { chosen } = pickFrom(runs, unusable, found.files, options);
      const files = options.run === undefined ? runs.flatMap((run) => run.files) : chosen.files;
      const windowOf = new Map(
        runs.flatMap((run) =>
          readWindows(run, options.select, options).map((window, i) => [run.files[i]!.path, window]),
        ),
      );
      const workers = startWorkers(found.files, 1, options);
      try {
        const every = !areAlone(files);
        const windows = files.map((file) => windowOf.get(file.path) ?? null);
        const wishes = { ...options, every, windows, stepsApart: true };
        const scanned = await scanFiles(workers, files, folder, wishes);
        const members = scanned.files.map(({ scan }) => ({ scan }));
        const isAlive = await stillAlive(
          { members },
          seemAlive({ members }),
          scanned.files.map(({ path }) => path),
        );
        const sentences = [...unusable, ...scanned.unusable];
        writer.value('head', { files: looked, run, select, problems: found.problems, unusable: sentences });
        scanned.files.forEach(({ scan, leases, stepPath }, i) => {
          const sections = stepSections(stepPath);
          writer.value('file', { scan, leases, isAlive: isAlive[i]!, stepSections: sections });
          writeSteps(writer, stepPath);
        });
        return {
          files: scanned.files.length,
          records: scanned.files.reduce((sum, { scan }) => sum + scan.records, 0),
          bytes: looked.reduce((sum, { bytes }) => sum + bytes, 0),
          problems: [...found.problems, ...sentences],
        };
      } finally {
        await workers.close();
      }
    },
  );
}

/** The fields that are given, without undefined ones. */
const given = (select: SelectionRequest = {}): object =>
  Object.fromEntries(Object.entries(select).filter(([, value]) => value !== undefined));

function inputFile(path: string): InputFile {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  return { path, bytes: Number(size), changed: mtimeNs };
}

const text = (files: readonly InputFile[]): string =>
  files.map(({ path, bytes, changed }) => `${path} ${bytes} ${changed}`).join('\n');

/** All ranks of the run are here and on one host. Then no transfer shows anything about a clock. */
function areAlone(files: readonly FileInRun[]): boolean {
  const hosts = new Set(files.map(({ header }) => header.process.bootId));
  const ranks = new Set(files.flatMap(ranksAmong(files)));
  const worlds = files.flatMap(({ header, communicators }) => [
    header.worldSize ?? 0,
    ...communicators.map(({ nRanks }) => nRanks),
  ]);
  return hosts.size === 1 && worlds.every((world) => world <= ranks.size);
}
