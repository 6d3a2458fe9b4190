/** `nccl-trace merge`: rank files in, one Perfetto trace and a short report out. */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import type { Peaks } from '../analysis/allowed_rate.js';
import { merge } from '../merge.js';
import type { MergeReport } from '../report/report.js';
import { findRankFiles } from '../rankfile/index.js';
import { ExitCode } from './exit.js';
import { addFlightOption } from './flight_option.js';
import { addPeakOption } from './peak_option.js';
import { surviveFileSizeLimit } from './interrupts.js';
import { mergeReportText } from '../report/merge_report.js';
import { placeOf, STDOUT } from '../output/place.js';
import { printable, size } from '../report/text.js';
import { addPageOptions, checkPage, writePage, type PageContent, type PageOptions } from './report_page.js';
import {
  addSelectionOptions,
  SELECTION_EXAMPLES,
  selectionRequest,
  type SelectionOptions,
} from './selection_options.js';
import { checkNames, writeSummary } from './output.js';
import { say, tellProblems } from './streams.js';
import { listsRuns } from './run_option.js';
import { traceTexts } from '../report/headline.js';
import { coloured, watched } from './watching.js';
import { addWithOption, withFiles } from './with_option.js';
import { addMemoryOption } from './memory_option.js';
import { addStudyOptions, JOBS, studyOptions, type StudyFlags } from './study_options.js';

interface Options extends SelectionOptions, PageOptions, StudyFlags {
  readonly report?: string;
  readonly output: string;
  readonly force?: true;
  readonly strict?: true;
  readonly summary?: string;
  readonly jobs?: number;
  readonly quiet?: true;
  readonly link?: true;
  readonly with?: string[];
  readonly flightRecorder?: string;
  readonly peak?: Peaks;
}

const EXAMPLES = `Examples:
  $ nccl-trace merge rank*.bin -o run.pftrace        all ranks of a run, open it in ui.perfetto.dev
  $ nccl-trace merge nccl-trace/ -o run.pftrace.gz   a directory, compressed for a ticket or a mail (or .zst)
  $ nccl-trace merge DIR -o - | gzip > run.gz        to the standard output
  $ nccl-trace merge DIR --with trace*.json.gz       with what PyTorch's profiler or nsys recorded, on the same axis
  $ nccl-trace merge DIR --run list                  list the runs; then --run NAME
${SELECTION_EXAMPLES}`;

export function mergeCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('merge', EXAMPLES)
    .description('Merge the rank files of one run into one Perfetto trace.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .option('-o, --output <file>', '.pftrace, .gz, .zst or -', 'nccl.pftrace')
    .option('-f, --force', 'replace an existing trace or summary')
    .option('--strict', 'fail on a file that cannot be used; exit with 1 if the report names any problem')
    .option('--summary <file>', 'write the findings as JSON, - for the standard output (schemas/trace.md)')
    .option('--report <file>', 'also write a page (.html), as "report" does')
    .option(...JOBS)
    .option('-q, --quiet', 'no report, no progress, errors only')
    .option('--link', 'print a link to the Perfetto UI that shows the moment; open the trace there by hand');
  addWithOption(command);
  return addMemoryOption(
    addPeakOption(addFlightOption(addStudyOptions(addSelectionOptions(addPageOptions(command))))),
  ).action(async (paths: string[], options: Options) => {
    setExit(await run(paths, options));
  });
}

async function run(inputs: readonly string[], options: Options): Promise<ExitCode> {
  if (await listsRuns(inputs, options)) return ExitCode.ok;
  const beside = withFiles(options.with);
  const files = [...findRankFiles(inputs).files, ...beside.map(({ path }) => path)];
  checkNames(options, files);
  if (options.report !== undefined) checkPage(options.report, options.force, files);
  surviveFileSizeLimit();
  let made: Pick<PageContent, 'report' | 'pictures'> | undefined;
  const report = await watched(options.quiet, (about) =>
    merge({
      ...options,
      ...studyOptions(options),
      ...about,
      with: beside,
      peaks: options.peak,
      select: selectionRequest(options),
      inputs,
      stdout: process.stdout,
      texts: traceTexts,
      onReport:
        options.report === undefined ? undefined : (about, pictures) => (made = { report: about, pictures }),
    }),
  );
  if (options.quiet) tellProblems(report, true);
  else
    say(
      coloured(
        mergeReportText(report, { isTerminal: process.stderr.isTTY, link: options.link }),
        process.stderr,
      ),
    );
  if (options.summary !== undefined)
    await writeSummary(options.summary, report, { force: options.force, inputs: files });
  if (options.report !== undefined && made) await writeReport(options.report, made, report, options, files);
  return options.strict && hasProblems(report) ? ExitCode.problems : ExitCode.ok;
}

async function writeReport(
  path: string,
  made: Pick<PageContent, 'report' | 'pictures'>,
  { startup }: MergeReport,
  options: Options,
  inputs: readonly string[],
): Promise<void> {
  const { output, force } = options;
  const place = placeOf(output);
  const trace = place.kind === 'file' ? place.path : null;
  const bytes = await writePage(path, { ...made, trace, traceName: output, startup }, options, {
    force,
    inputs,
  });
  if (!options.quiet && path !== STDOUT) say(`report: ${printable(path)} (${size(bytes)})\n`);
}

/** Whether `--strict` ends with 1. */
export function hasProblems(report: MergeReport): boolean {
  const lossy = report.ranks.some(
    (rank) => rank.problems.length > 0 || Object.values(rank.lost).some((slots) => slots > 0),
  );
  return report.problems.length > 0 || report.missingRanks.length > 0 || lossy;
}
