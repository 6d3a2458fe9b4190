/** `nccl-trace report`: the whole report of a run, as a page that contains its trace, as text for tickets, or as JSON. */

import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { commandWith } from './help.js';
import type { Peaks } from '../analysis/allowed_rate.js';
import { UsageError } from '../base/errors.js';
import { merge } from '../merge.js';
import { STDOUT } from '../output/place.js';
import { withWorkFolder } from '../output/work_folder.js';
import { findRankFiles } from '../rankfile/index.js';
import { examineStudy } from '../shards/study_file.js';
import { traceTexts } from '../report/headline.js';
import { markdownOf } from '../report/markdown.js';
import { printable, size } from '../report/text.js';
import { ExitCode } from './exit.js';
import { addFailOn, exitFor, type FailOnFlag } from './fail_on.js';
import { addFlightOption } from './flight_option.js';
import { addPeakOption } from './peak_option.js';
import { addPageOptions, checkPage, writePage, type PageContent, type PageOptions } from './report_page.js';
import { listsRuns } from './run_option.js';
import { print, say, tellProblems } from './streams.js';
import { watched } from './watching.js';
import { examineAny, refuseStudy, studyIn } from './study_input.js';
import { addMemoryOption } from './memory_option.js';
import { addStudyOptions, studyOptions, type StudyFlags } from './study_options.js';
import { addWithOption, withFiles } from './with_option.js';

interface Options extends PageOptions, StudyFlags, FailOnFlag {
  readonly flightRecorder?: string;
  readonly peak?: Peaks;
  readonly output?: string;
  readonly force?: true;
  readonly jobs?: number;
  readonly json?: true;
  readonly markdown?: true;
  readonly quiet?: true;
  readonly with?: string[];
}

const EXAMPLES = `Examples:
  $ nccl-trace report RUN -o postmortem.html   one file: verdict, tables, pictures, and the trace to open in Perfetto
  $ nccl-trace report RUN --markdown           for a ticket or a chat: at most 60 lines
  $ nccl-trace report RUN --json > run.json    for scripts (schemas/report.md)
  $ nccl-trace report RUN --markdown --with trace*.json.gz   also training steps: what no kernel covers of NCCL's time
`;

export function reportCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('report', EXAMPLES)
    .description('Report on a run: verdict, ranks, collectives and links.')
    .argument('<paths...>', 'rank files, their directories, or a .study')
    .option('-o, --output <file>', 'a page (.html) that needs no network, or -')
    .option('--json', 'one JSON object (schemas/report.md)')
    .option('--markdown', 'for tickets and chats: at most 60 lines')
    .option('-f, --force', 'replace an existing report')
    .option('-q, --quiet', 'print what is asked for and errors only');
  return addMemoryOption(
    addFailOn(addPeakOption(addFlightOption(addStudyOptions(addWithOption(addPageOptions(command)))))),
  ).action(async (paths: string[], options: Options) => {
    setExit(await run(paths, options));
  });
}

async function run(inputs: readonly string[], options: Options): Promise<ExitCode> {
  if (await listsRuns(inputs, options)) return ExitCode.ok;
  const forms = [options.output !== undefined, options.json, options.markdown].filter(Boolean).length;
  if (forms !== 1) throw new UsageError('name one form: -o postmortem.html, --markdown or --json');
  if (options.with !== undefined) refuseStudy(inputs, options);
  if (options.output !== undefined) {
    const study = studyIn(inputs, options);
    return study === null
      ? page(inputs, options.output, options)
      : pageOfStudy(study, options.output, options);
  }
  const { report } = await watched(options.quiet, (about) =>
    examineAny(inputs, options, { ...asked(options), ...about }),
  );
  tellProblems(report, options.quiet);
  await print(options.json ? `${JSON.stringify(report, null, 1)}\n` : markdownOf(report));
  return exitFor(report, options);
}

/** Options of study and merge, the same for each form. */
const asked = (options: Options) => ({
  ...studyOptions(options),
  ...{ flightRecorder: options.flightRecorder, peaks: options.peak, with: withFiles(options.with) },
});

/** The trace is written into a work folder. Only the copy inside the page is kept. */
async function page(inputs: readonly string[], output: string, options: Options): Promise<ExitCode> {
  const { files } = findRankFiles(inputs);
  checkPage(output, options.force, files);
  const { bytes, report } = await withWorkFolder(tmpdir(), undefined, async (folder) => {
    const trace = join(folder, 'nccl.pftrace.gz');
    let made: Pick<PageContent, 'report' | 'pictures'> | undefined;
    const merged = await watched(options.quiet, (about) =>
      merge({
        ...asked(options),
        ...about,
        inputs,
        output: trace,
        texts: traceTexts,
        onReport: (report, pictures) => (made = { report, pictures }),
      }),
    );
    tellProblems(merged, options.quiet);
    const content = { ...made!, trace, traceName: traceNameFor(output), startup: merged.startup };
    const bytes = await writePage(output, content, options, { force: options.force, inputs: files });
    return { bytes, report: made!.report };
  });
  if (!options.quiet && output !== STDOUT) say(`report: ${printable(output)} (${size(bytes)})\n`);
  return exitFor(report, options);
}

/** A page without a trace, because the rank files are on other hosts. */
async function pageOfStudy(study: string, output: string, options: Options): Promise<ExitCode> {
  checkPage(output, options.force, [study]);
  const { report } = examineStudy(study, { ...options, peaks: options.peak });
  tellProblems(report, options.quiet);
  const content = { report, pictures: [], trace: null, traceName: '', startup: '' };
  const bytes = await writePage(
    output,
    content,
    { ...options, trace: false },
    { force: options.force, inputs: [study] },
  );
  if (!options.quiet && output !== STDOUT)
    say(`report: ${printable(output)} (${size(bytes)}), without its trace: "nccl-trace join" draws it\n`);
  return exitFor(report, options);
}

/** "postmortem.html" → "postmortem.pftrace.gz" */
const traceNameFor = (output: string): string =>
  `${output === STDOUT ? 'nccl' : basename(output).replace(/\.html?$/, '')}.pftrace.gz`;
