/** A .study, read: the head for `convert`, and the whole study for `join`, `inspect` and `report`. */

import { joinRanks, judgeOf, type Study } from '../study/study.js';
import { checkScan } from './plausible.js';
import { SectionFile } from './sections.js';
import type { StudyHead } from './stored.js';

export interface LoadedStudy {
  readonly head: StudyHead;
  readonly studied: Study;
}

/** Throws NoUsableInput. */
export function loadStudy(path: string): LoadedStudy {
  const file = new SectionFile(path, 'study');
  try {
    return readStudy(file);
  } finally {
    file.close();
  }
}

function readStudy(file: SectionFile): LoadedStudy {
  const head = file.value('head', 0, 'StudyHead');
  const { clocks, records, unusable, aliases, alive, ...rest } = head.run;
  const members = head.members.map(({ rank, ranks }, i) => {
    const { scan } = file.value('file', i, 'StoredScan');
    checkScan(scan, file);
    return { scan, rank, ranks };
  });
  const { solution } = clocks;
  const isWhole =
    [alive, solution.scales, solution.domainOf].every(({ length }) => length === members.length) &&
    solution.domainOf.every((domain) => solution.domains[domain] !== undefined) &&
    solution.domains.every(
      ({ map, group, files }) =>
        map.segments.length > 0 && group in solution.domains && files.every((one) => one in members),
    );
  if (!isWhole) file.damaged('its clocks are not those of its files');
  const paths = members.map(({ scan }) => scan.path);
  const run = { ...rest, members };
  const joined = joinRanks({ run, clocks, records, unusable, aliases, sources: paths, readFrom: paths });
  return { head, studied: { ...joined, alive, verdict: judgeOf(joined, head.options)(alive) } };
}
