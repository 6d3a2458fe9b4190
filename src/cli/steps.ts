/** The steps of a merge as commands of their own, for schedulers: `scan` and `convert` run where the files are, `study` and `join` once. */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import { sentenceText, type Sentence } from '../base/sentence.js';
import { STDOUT } from '../output/place.js';
import { traceTexts } from '../report/headline.js';
import { mergeReportText } from '../report/merge_report.js';
import { printable, size } from '../report/text.js';
import { verdictText } from '../report/verdict_text.js';
import { diagnosisOf } from '../report/diagnosis.js';
import { makePart } from '../shards/convert_step.js';
import { joinTrace } from '../shards/join_step.js';
import { makeScan } from '../shards/scan_step.js';
import { makeStudy } from '../shards/study_step.js';
import { ExitCode } from './exit.js';
import { surviveFileSizeLimit } from './interrupts.js';
import { writeSummary } from './output.js';
import {
  addSelectionOptions,
  addTimeOptions,
  selectionRequest,
  type SelectionOptions,
} from './selection_options.js';
import { complain, say, tellProblems } from './streams.js';
import { addMemoryOption } from './memory_option.js';
import { addStudyOptions, JOBS, studyOptions, type StudyFlags } from './study_options.js';
import { coloured, watched, type Watched } from './watching.js';

interface Common {
  readonly output: string;
  readonly force?: true;
  readonly quiet?: true;
  readonly jobs?: number;
}

type SetExit = (code: ExitCode) => void;

const EXAMPLES = `Examples:
  $ nccl-trace scan DIR -o node1.scan                              1. on each node: its rank files are read there
  $ nccl-trace study node*.scan --allow-missing -o run.study       2. once, even if ranks are missing
  $ nccl-trace convert --study run.study DIR -o node1.part         3. on each node
  $ nccl-trace join run.study node*.part -o whole.pftrace          4. once: the trace that "merge" writes
docs/merge-at-scale.md has the same for Slurm.
`;

export function scanCommand(setExit: SetExit): Command {
  const about = 'Merge, step 1 of 4: read the rank files of a node once.';
  return addMemoryOption(addTimeOptions(step('scan', about, 'node.scan'), 'read'))
    .argument('<paths...>', 'rank files, or directories that hold them')
    .option('--run <name>', 'read the files of this run only (default: of all runs)')
    .action(async (inputs: string[], options: Common & SelectionOptions & { readonly run?: string }) => {
      const select = selectionRequest(options);
      const made = await asked(options, (about) => makeScan({ ...about, run: options.run, select, inputs }));
      if (made === null) {
        done(options);
        return;
      }
      tell(made.problems);
      note(options, `${made.files} files, ${size(made.bytes)}, ${made.records} records`);
      setExit(ExitCode.ok);
    });
}

export function studyCommand(setExit: SetExit): Command {
  const command = step(
    'study',
    'Merge, step 2 of 4: clocks and verdict of a run from its scans.',
    'run.study',
  )
    .argument('<scans...>', 'written by "nccl-trace scan"')
    .option('--allow-missing', 'go on if some ranks have no scan');
  return addStudyOptions(addSelectionOptions(command)).action(
    async (inputs: string[], options: Common & StudyFlags & SelectionOptions & { allowMissing?: true }) => {
      const select = selectionRequest(options);
      const { allowMissing } = options;
      const made = await asked(options, (about) =>
        makeStudy({ ...about, ...studyOptions(options), select, allowMissing, inputs }),
      );
      if (made === null) {
        done(options);
        return;
      }
      const diagnosis = diagnosisOf(made, null);
      tellProblems(diagnosis, options.quiet);
      const lines = verdictText(diagnosis, [], { isTerminal: process.stderr.isTTY });
      if (!options.quiet) say(coloured(lines.map((line) => `${line}\n`).join(''), process.stderr));
      setExit(ExitCode.ok);
    },
  );
}

export function convertCommand(setExit: SetExit): Command {
  return addMemoryOption(step('convert', "Merge, step 3 of 4: a node's part of the trace.", 'node.part'))
    .argument('<paths...>', 'the rank files that were scanned, or directories that hold them')
    .requiredOption('--study <file>', 'written by "nccl-trace study"')
    .action(async (inputs: string[], options: Common & { readonly study: string }) => {
      const made = await asked(options, (about) => makePart({ ...about, study: options.study, inputs }));
      if (made === null) {
        done(options);
        return;
      }
      tell(made.problems);
      note(options, `${made.files} files drawn, ${made.slices} slices`);
      setExit(ExitCode.ok);
    });
}

export function joinCommand(setExit: SetExit): Command {
  return step('join', 'Merge, step 4 of 4: join the parts into the trace.', 'nccl.pftrace')
    .argument('<study>', 'written by "nccl-trace study"')
    .argument('<parts...>', 'written by "nccl-trace convert"')
    .option('--allow-missing', 'go on if some ranks have no part')
    .option('--summary <file>', 'write the findings as JSON, - for the standard output (schemas/trace.md)')
    .action(
      async (
        study: string,
        parts: string[],
        options: Common & { readonly allowMissing?: true; readonly summary?: string },
      ) => {
        surviveFileSizeLimit();
        const { allowMissing, summary, force } = options;
        const report = await asked(options, (about) =>
          joinTrace({ ...about, study, parts, allowMissing, texts: traceTexts, stdout: process.stdout }),
        );
        if (options.quiet) tellProblems(report, true);
        else say(coloured(mergeReportText(report, { isTerminal: process.stderr.isTTY }), process.stderr));
        if (summary !== undefined) await writeSummary(summary, report, { force, inputs: [study, ...parts] });
        setExit(ExitCode.ok);
      },
    );
}

function step(name: string, about: string, output: string): Command {
  return commandWith(name, EXAMPLES)
    .description(about)
    .option('-o, --output <file>', 'the file to write', output)
    .option('-f, --force', 'run the step again, and replace an existing file')
    .option(...JOBS)
    .option('-q, --quiet', 'print errors only');
}

type About = Pick<Common, 'output' | 'force' | 'jobs'> & Pick<Watched, 'interrupt' | 'onProgress'>;

const asked = <T>({ output, force, jobs, quiet }: Common, work: (about: About) => Promise<T>): Promise<T> =>
  watched(quiet, ({ interrupt, onProgress }) =>
    work({ output, ...(force && { force }), ...(jobs && { jobs }), interrupt, onProgress }),
  );

function done(options: Common): void {
  note(options, 'is there, valid, and made of the same input: nothing to do (--force makes it again)');
}

function note({ quiet, output }: Common, text: string): void {
  if (!quiet && output !== STDOUT) say(`${printable(output)}: ${text}\n`);
}

/** Also with --quiet: each is about a file that is left out. */
function tell(problems: readonly Sentence[]): void {
  for (const problem of problems) complain(sentenceText(problem));
}
