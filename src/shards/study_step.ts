/**
 * `nccl-trace study`: the one step of a merge that sees all ranks. It reads scans, not rank files, and decides clocks, verdict and plan.
 * The .study holds everything that `convert` needs for each file, and that `join`, `inspect` and `report` need about the run.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { NoUsableInput } from '../base/errors.js';
import type { OnProgress } from '../base/progress.js';
import { foldRanks } from '../base/ranks.js';
import { planTrace } from '../finish.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { shownAs, type RunOptions } from '../runs/find_runs.js';
import { processKey, groupIntoRuns, type FoundRun } from '../runs/runs.js';
import { unreadMembers } from '../study/read_windows.js';
import { joinScans, pickFrom, type ScannedRun } from '../study/scanned_run.js';
import { studyScanned, type Study } from '../study/study.js';
import { convertJobs } from '../trace/convert_jobs.js';
import { checkRequest, type SelectionRequest } from '../trace/selection.js';
import type { VerdictOptions } from '../verdict/facts/run_verdict.js';
import { produce, type ProduceOptions } from './produce.js';
import { foldersOf } from './study_file.js';
import { loadScans, type LoadedScan } from './load_scans.js';
import type { SectionWriter } from './sections.js';
import { firstSteps } from './step_rows.js';
import type { StoredOptions } from './stored.js';

export interface StudyStepOptions extends ProduceOptions, RunOptions, ClockOptions, VerdictOptions {
  /** Paths of scans. */
  readonly inputs: readonly string[];
  readonly select?: SelectionRequest | undefined;
  /** Goes on without the ranks that have no scan. */
  readonly allowMissing?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** null: a valid study of the same scans exists already. Throws NoUsableInput, UsageError, OutputError. */
export async function makeStudy(options: StudyStepOptions): Promise<Study | null> {
  checkRequest(options.select ?? {});
  const { run, redact, clock, alike, wander, hungAfter, select } = options;
  const stored: StoredOptions = { run, redact, clock, alike, wander, hungAfter, select };
  const scans = loadScans(options.inputs);
  try {
    const id = idOf(scans.ids, stored);
    return await produce(
      'study',
      options,
      options.inputs,
      (there) => there.value('head', 0).id === id,
      async (writer, folder) => {
        const files = await scans.read(folder);
        const runs = groupIntoRuns(files);
        const paths = [...scans.paths];
        const { aliases, chosen } = pickFrom(runs, scans.unusable, paths, options);
        checkNotMixed(scans.names, runs, chosen);
        const gathered = { runs, chosen, aliases, unusable: scans.unusable };
        const stepsOf = onSeveralHosts(chosen, clock) ? (file: LoadedScan) => file : withFirstSteps(folder);
        const scanned = joinScans({ ...gathered, files: chosen.files.map(stepsOf) }, paths, options);
        checkRead(scanned, select);
        checkComplete(scanned.run.missing, scanned.run.worldSize, options);
        const beats = new Map(chosen.files.map((file) => [file.path, file.isAlive]));
        const studied = await studyScanned(scanned, options, (alive) =>
          Promise.resolve(alive.map((one, file) => one && beats.get(scanned.sources[file]!) === true)),
        );
        write(writer, studied, { id, options: stored, notes: shownAs(scans.problems, aliases) });
        return studied;
      },
    );
  } finally {
    scans.close();
  }
}

const idOf = (scans: readonly string[], options: StoredOptions): string =>
  createHash('sha256')
    .update([...scans].sort().join(' '))
    .update(serialize(options))
    .digest('hex');

const onSeveralHosts = ({ files }: FoundRun, clock: ClockOptions['clock']): boolean =>
  clock !== 'realtime' && new Set(files.map(({ header }) => header.process.bootId)).size > 1;

const withFirstSteps =
  (folder: string) =>
  (file: LoadedScan, i: number): LoadedScan => {
    const stepPath = join(folder, `first-${i}`);
    const steps = firstSteps(file.scan.steps, file.stepPath, stepPath);
    return { ...file, stepPath, scan: { ...file.scan, steps } };
  };

/** A scan of another run is a user's mistake. Files of other runs inside a scan are not. */
function checkNotMixed(
  names: readonly string[],
  runs: readonly FoundRun<LoadedScan>[],
  chosen: FoundRun<LoadedScan>,
): void {
  names.forEach((name, i) => {
    if (chosen.files.some(({ part }) => part === i)) return;
    const other = runs.find(({ files }) => files.some(({ part }) => part === i));
    if (other)
      throw new NoUsableInput(
        `${name}: is of run ${other.name}, but the newest run of these scans is ${chosen.name}; ` +
          `name the scans of one run, or choose with --run`,
      );
  });
}

/** A scan of a selected time can be used for that time only. */
function checkRead(scanned: ScannedRun, select: SelectionRequest | undefined): void {
  const unread = unreadMembers(scanned, select);
  if (unread.length === 0) return;
  const { scan } = scanned.run.members[unread[0]!]!;
  const others = unread.length === 1 ? '' : ` and of ${unread.length - 1} more`;
  throw new NoUsableInput(
    `the scan of ${scan.path}${others} has only a part of the file, and not all of the time that is selected; ` +
      'scan again without --last, --from, --to and --around, or give "study" the same ones',
  );
}

function checkComplete(
  missing: readonly number[],
  worldSize: number,
  { allowMissing }: StudyStepOptions,
): void {
  if (missing.length === 0 || allowMissing === true) return;
  throw new NoUsableInput(
    `no scan has rank${missing.length === 1 ? '' : 's'} ${foldRanks(missing)} (of ${worldSize}); ` +
      'scan the files of their nodes too, or go on without them: --allow-missing',
  );
}

function write(
  writer: SectionWriter<'study'>,
  studied: Study,
  {
    id,
    options,
    notes,
  }: { readonly id: string; readonly options: StoredOptions; readonly notes: readonly string[] },
): void {
  const { run, clocks, unusable, records, aliases, alive } = studied;
  const { worldSize, missing, others, problems } = run;
  const planned = planTrace(studied, { ...options, inputs: foldersOf(studied) });
  // Pieces stay as they are until `join` knows the name of the trace.
  const jobs = convertJobs(studied, planned.drawing, () => '', '', planned.layout);
  const stored = { worldSize, missing, others, problems, unusable, notes, records, aliases, clocks, alive };
  const members = run.members.map(({ rank, ranks, isReplaced, scan }, file) => {
    return { rank, ranks, isReplaced, process: processKey(scan), isDrawn: jobs[file] !== null };
  });
  writer.value('head', { id, options, run: stored, members });
  run.members.forEach(({ scan }, file) => {
    writer.value('file', { scan, leases: [], isAlive: alive[file]!, stepSections: 0 });
  });
  for (const job of jobs) if (job) writer.value('job', { ...job, path: '', blockPath: '' });
}
