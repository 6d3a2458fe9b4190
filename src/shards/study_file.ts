/** Reads a .study: the head for `convert`, the whole study for `join`, `inspect` and `report`. */

import { dirname } from 'node:path';
import type { Peaks } from '../analysis/allowed_rate.js';
import { dumpsFor, type FlightOptions } from '../pytorch/flight_report.js';
import type { findClocks } from '../merge.js';
import { reportAllClocks } from '../report/clock_map_report.js';
import { diagnosisOf, type Diagnosis } from '../report/diagnosis.js';
import { examineStudied, type Examined } from '../report/examine.js';
import { joinRanks, judged, judgeOf, type Study } from '../study/study.js';
import { suggestDrawing } from '../trace/drawing.js';
import { SectionFile } from './sections.js';
import type { StudyHead } from './stored.js';

export interface LoadedStudy {
  readonly head: StudyHead;
  readonly studied: Study;
}

/** The suggested commands name the folders where the rank files were. Throws NoUsableInput. */
export function diagnoseStudy(path: string, options: FlightOptions = {}): Diagnosis {
  const dumps = dumpsFor(options);
  const { head, studied } = loadStudy(path);
  const diagnosis = diagnosisOf(
    studied,
    suggestDrawing(studied, { ...head.options, inputs: foldersOf(studied) }),
    dumps,
  );
  return { ...diagnosis, problems: [...head.run.notes, ...diagnosis.problems] };
}

/** Throws NoUsableInput. */
export function examineStudy(
  path: string,
  options: FlightOptions & { readonly peaks?: Peaks | undefined } = {},
): Examined {
  const dumps = dumpsFor(options);
  const { head, studied } = loadStudy(path);
  return examineStudied(
    studied,
    { ...head.options, inputs: foldersOf(studied), peaks: options.peaks },
    dumps,
  );
}

/** Does for a .study what `findClocks` does for rank files. Throws NoUsableInput. */
export function studyClocks(path: string): Awaited<ReturnType<typeof findClocks>> {
  const { head, studied } = loadStudy(path);
  const { clocks, run, unusable } = studied;
  return {
    ...reportAllClocks(clocks, run),
    unusable,
    problems: [...head.run.notes, ...unusable, ...run.problems],
  };
}

/** For suggested commands: where the rank files were. */
export const foldersOf = ({ run }: Pick<Study, 'run'>): string[] => [
  ...new Set(run.members.map(({ scan }) => dirname(scan.path))),
];

/** Throws NoUsableInput. */
export function loadStudy(path: string): LoadedStudy {
  const file = new SectionFile(path, 'study');
  try {
    return readStudy(file);
  } finally {
    file.close();
  }
}

function readStudy(file: SectionFile<'study'>): LoadedStudy {
  const head = file.value('head', 0);
  const { clocks, records, unusable, aliases, alive, ...rest } = head.run;
  const members = head.members.map(({ rank, ranks, isReplaced }, i) => {
    return { scan: file.value('file', i).scan, rank, ranks, isReplaced };
  });
  const paths = members.map(({ scan }) => scan.path);
  const run = { ...rest, members };
  const joined = joinRanks({ run, clocks, records, unusable, aliases, sources: paths, readFrom: paths });
  const verdict = judgeOf(joined, head.options)(alive);
  return { head, studied: judged(joined, { alive, verdict }) };
}
