/**
 * `nccl-trace inspect`: prints the verdict on a run, or the content of rank files, without a merge. For several files it prints only the
 * verdict, so that the verdict does not scroll away; of jobs that ran at the same time each one's, the worst first. For one file, or with --files, it prints the facts of each file. With --records it
 * prints every record in merged order. A file that cannot be used is reported on stderr, and the next one is read.
 */

import type { Command } from 'commander';
import { commandWith } from './help.js';

import { NoUsableInput, RankFileError, UsageError } from '../base/errors.js';
import { diagnose, type Diagnosis } from '../report/diagnosis.js';
import { dumpVerdictText, toldFlight } from '../report/flight_text.js';
import { dumpsFor, flightReport } from '../pytorch/flight_report.js';
import { pickFiles } from '../runs/find_runs.js';
import { redactFile, said, type Aliases } from '../runs/redact.js';
import {
  describeRecord,
  type FileSummary,
  findRankFiles,
  mergedRows,
  type RankFileStream,
  streamRankFile,
  summarize,
} from '../rankfile/index.js';
import { ExitCode } from './exit.js';
import { addFailOn, badness, exitFor, type FailOnFlag } from './fail_on.js';
import { addFlightOption } from './flight_option.js';
import { wholeNumber } from './numbers.js';
import { addMemoryOption } from './memory_option.js';
import { addVerdictOptions } from './verdict_options.js';
import { inspectNext, mergeNext } from '../report/next_command.js';
import { studyIn } from './study_input.js';
import { complain, print, tellProblems } from './streams.js';
import { addRunOptions, listsRuns } from './run_option.js';
import { coloured, watched } from './watching.js';
import { printable, fit } from '../report/text.js';
import { verdictText } from '../report/verdict_text.js';
import { besideRas } from './ras_option.js';

interface Options extends FailOnFlag {
  readonly json?: true;
  readonly records?: number | true;
  readonly strict?: true;
  readonly quiet?: true;
  readonly run?: string;
  readonly redact?: true;
  readonly files?: true;
  readonly hungAfter?: number;
  readonly flightRecorder?: string;
  readonly ras?: string;
}

const EXAMPLES = `Examples:
  $ nccl-trace inspect rank00003.bin               who wrote it, what it holds, what is lost
  $ nccl-trace inspect RUN                         the verdict on a run: healthy, slow, hung or unclear, and who
  $ nccl-trace inspect RUN --files                 also the facts of each file
  $ nccl-trace inspect RUN --ras localhost:28028   and what NCCL's RAS says of all nodes
  $ nccl-trace inspect RUN --json | jq .file.life  one JSON object per file, for scripts
  $ nccl-trace inspect rank00003.bin --records 50  also its newest 50 records, one per line
  $ nccl-trace inspect rank00003.bin --records --json > records.jsonl
`;

export function inspectCommand(setExit: (code: ExitCode) => void): Command {
  const command = addRunOptions(
    commandWith('inspect', EXAMPLES)
      .description('Give the verdict on a run, or show what a rank file holds.')
      .argument('[paths...]', 'rank files, their directories, or a .study')
      .option('--json', 'one JSON object per line: diagnosis, file, record')
      .option('--records [n]', 'all records in order of time, or the newest n', wholeNumber(1))
      .option('--files', 'also the facts of each file, after the verdict')
      .option('--ras <source>', "what NCCL's RAS says: its answer, or HOST:PORT")
      .option('--strict', 'exit with 1 if a file cannot be used or has problems')
      .option('-q, --quiet', 'print what is asked for and errors only'),
  );
  return addFailOn(addFlightOption(addMemoryOption(addVerdictOptions(command)))).action(
    async (paths: string[], options: Options) => {
      setExit(await run(paths, options));
    },
  );
}

async function run(paths: readonly string[], options: Options): Promise<ExitCode> {
  if (await listsRuns(paths, options)) return ExitCode.ok;
  if (paths.length === 0) return inspectDumps(options);
  const study = studyIn(paths, options);
  if (study !== null) return inspectStudy(study, options);
  const there = findRankFiles(paths);
  const { files, aliases } = pickFiles(there.files, options);
  const note = options.quiet === true ? (): void => undefined : complain;
  for (const problem of there.problems) note(said(problem, aliases));
  let clean = there.problems.length === 0;
  let found: readonly Diagnosis[] = [];
  const exit = (otherwise: ExitCode): ExitCode =>
    found.reduce((code, one) => exitFor(one, options, code), otherwise);
  // Naming one file asks for its facts. A folder with one file has a verdict, and so has what is to fail on one.
  if (files.length > 1 || !paths.some((path) => files.includes(path)) || options.failOn) {
    const shown = await showVerdict(paths, options);
    found = shown.found;
    if (!shown.isRead) return exit(ExitCode.ok);
    const wantsMore = options.files ?? options.json ?? options.records !== undefined;
    if (!wantsMore && found.length > 0)
      return exit(
        options.strict === true && !(clean && found.every(isClean)) ? ExitCode.problems : ExitCode.ok,
      );
  }
  let used = 0;
  for (const path of files) {
    const summary = summaryOrComplaint(path, aliases);
    if (summary === null) {
      clean = false;
      continue;
    }
    if (options.json !== true && used > 0) await print('\n');
    if (!(await show(path, summary, options, aliases))) return exit(ExitCode.ok);
    used++;
    clean &&= summary.problems.length === 0;
  }
  if (used === 0) return ExitCode.noUsableInput;
  return exit(options.strict === true && !clean ? ExitCode.problems : ExitCode.ok);
}

const isClean = ({ problems, ranks }: Diagnosis): boolean =>
  problems.length === 0 && ranks.every((rank) => rank.problems.length === 0);

/** Without rank files, PyTorch's dumps have a verdict of their own. */
async function inspectDumps(options: Options): Promise<ExitCode> {
  const dumps = dumpsFor(options);
  if (dumps === null) throw new UsageError('name rank files, or give --flight-recorder DIR');
  if (options.quiet !== true) for (const problem of dumps.problems) complain(problem);
  const flightRecorder = toldFlight(flightReport(dumps, null));
  const isTerminal = process.stdout.isTTY;
  const lines = dumpVerdictText(flightRecorder).map((line) => `${isTerminal ? fit(line) : line}\n`);
  await print(
    options.json === true ? jsonLine({ flightRecorder }) : coloured(lines.join(''), process.stdout),
  );
  const otherwise = options.strict === true && dumps.problems.length > 0 ? ExitCode.problems : ExitCode.ok;
  return exitFor({ verdict: null, flightRecorder }, options, otherwise);
}

/** `study` has already used the options that change a verdict, so this command does not take them with a .study. */
async function inspectStudy(path: string, options: Options): Promise<ExitCode> {
  if (options.files !== undefined || options.records !== undefined)
    throw new UsageError(`${path}: is a .study, which has no files and records; name rank files`);
  const { diagnoseStudy } = await import('../shards/study_file.js');
  const { problems, ...diagnosis } = diagnoseStudy(path, options);
  tellProblems({ problems, unusable: diagnosis.unusable }, options.quiet);
  const text = verdictText(diagnosis, diagnosis.suggestion ? [mergeNext(diagnosis, [])] : [], {
    isTerminal: process.stdout.isTTY,
  });
  const output = coloured(text.map((line) => `${line}\n`).join(''), process.stdout);
  await print(options.json === true ? jsonLine({ diagnosis }) : output);
  const otherwise = options.strict === true && problems.length > 0 ? ExitCode.problems : ExitCode.ok;
  return exitFor(diagnosis, options, otherwise);
}

/** A job in the folder, and the verdict on it. */
interface JudgedRun {
  /** For --run; undefined: the one that was asked for, or the newest. */
  readonly run: string | undefined;
  readonly found: Diagnosis;
}

/** For several files, the verdict comes first. Without a diagnosis no file can be used. */
async function showVerdict(
  paths: readonly string[],
  options: Options,
): Promise<{ readonly found: readonly Diagnosis[]; readonly isRead: boolean }> {
  try {
    const all = await watched(options.quiet, (about) =>
      judgeAll(async (run) =>
        besideRas(await diagnose(paths, { ...askedOf(options, run), ...about }), options.ras, options.redact),
      ),
    );
    // Each diagnosis has looked at all files.
    const once = (of: 'problems' | 'unusable'): string[] => [
      ...new Set(all.flatMap(({ found }) => found[of])),
    ];
    tellProblems({ problems: once('problems'), unusable: once('unusable') }, options.quiet);
    const isRead = await print(
      options.json === true ? all.map(diagnosisLine).join('') : verdictOutput(all, paths, options),
    );
    return { found: all.map(({ found }) => found), isRead };
  } catch (error) {
    // Each file's own error follows.
    if (error instanceof NoUsableInput) return { found: [], isRead: true };
    throw error;
  }
}

/** Jobs that ran at the same time, as replicas do: a hang of one may be older than the newest. The worst first, and of equals the newest. */
async function judgeAll(judge: (run?: string) => Promise<Diagnosis>): Promise<JudgedRun[]> {
  const newest = await judge();
  const all: JudgedRun[] = [{ run: undefined, found: newest }];
  for (const { name, isBeside } of newest.otherRuns)
    if (isBeside) all.push({ run: name, found: await judge(name) });
  return all.sort((a, b) => badness(a.found) - badness(b.found));
}

const askedOf = ({ run, redact, hungAfter, flightRecorder }: Options, other?: string) => ({
  ...{ run: other ?? run, redact, hungAfter, flightRecorder },
});

function diagnosisLine({ run, found: { problems: _, ...diagnosis } }: JudgedRun): string {
  return jsonLine({ run, diagnosis });
}

function verdictOutput(all: readonly JudgedRun[], paths: readonly string[], options: Options): string {
  const blocks = all.map(({ run, found }) => {
    const next = inspectNext(found, paths, askedOf(options, run));
    const title = run === undefined ? 'The newest run:' : `At the same time, ${printable(run)}:`;
    return [
      ...(all.length > 1 ? [title] : []),
      ...verdictText(found, next, { isTerminal: process.stdout.isTTY }),
    ];
  });
  const factsFollow = options.files ?? options.records !== undefined;
  const lines = blocks.flatMap((block, i) => (i > 0 ? ['', ...block] : block));
  const text = [...lines, ...(factsFollow ? [''] : [])].map((line) => `${line}\n`).join('');
  return coloured(text, process.stdout);
}

/** Opens a file, redacted if asked for. */
function open(path: string, aliases: Aliases | null): ReturnType<typeof streamRankFile> {
  const file = streamRankFile(path);
  return aliases === null ? file : redactFile(file, aliases);
}

function summaryOrComplaint(path: string, aliases: Aliases | null): FileSummary | null {
  try {
    const file = open(path, aliases);
    try {
      return summarize(file);
    } finally {
      file.close();
    }
  } catch (error) {
    if (!(error instanceof RankFileError)) throw error;
    complain(said(error.sentence, aliases));
    return null;
  }
}

/** False when the reader has closed the pipe (`| head`). */
async function show(
  path: string,
  summary: FileSummary,
  options: Options,
  aliases: Aliases | null,
): Promise<boolean> {
  const { summaryText } = await import('../report/inspect_text.js');
  const facts = options.json === true ? jsonLine({ file: summary }) : summaryText(summary);
  if (!(await print(facts))) return false;
  if (options.records === undefined) return true;
  const total = summary.rings.reduce((sum, ring) => sum + ring.records, 0);
  const wanted = options.records === true ? total : options.records;
  if (options.json !== true && !(await print('\n'))) return false;
  const file = open(path, aliases);
  try {
    return await showRecords(file, options, total - wanted);
  } finally {
    file.close();
  }
}

async function showRecords(file: RankFileStream, options: Options, skip: number): Promise<boolean> {
  const { recordText } = await import('../report/inspect_text.js');
  let seen = 0;
  let text = '';
  for (const { ring, records, from, end } of mergedRows(file))
    for (let row = from; row < end; row++) {
      if (seen++ < skip) continue;
      const record = describeRecord(file, ring, records, row);
      text +=
        options.json === true
          ? jsonLine({ record: { ...record, fields: Object.fromEntries(record.fields) } })
          : recordText(record, file.header.tickHz);
      if (text.length < 1 << 16) continue;
      if (!(await print(text))) return false;
      text = '';
    }
  return print(text);
}

/** JSON.stringify escapes C0. This escapes the other control characters that a terminal might obey. */
function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}
