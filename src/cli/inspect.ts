/**
 * `nccl-trace inspect`: what is in rank files, before anything is merged. Of several files first the verdict on the run;
 * then one by one the facts, with --records every record in the file's merged order. A file that cannot be used is said so on stderr, and the next one is read.
 */

import { Command, InvalidArgumentError } from 'commander';

import { NoUsableInput, RankFileError } from '../base/errors.js';
import { diagnose } from '../merge/diagnosis.js';
import {
  describeRecord,
  type FileSummary,
  findRankFiles,
  mergedRuns,
  type RankFileStream,
  streamRankFile,
  summarize,
} from '../reader/index.js';
import { ExitCode } from './exit.js';
import { recordText, summaryText } from './inspect_text.js';
import { printable } from './text.js';
import { verdictText } from './verdict_text.js';

interface Options {
  readonly json?: true;
  readonly records?: number | true;
  readonly strict?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace inspect rank00003.bin               who wrote it, what it holds, what is lost
  $ nccl-trace inspect RUN | head -15              the verdict on a run: healthy, slow or hung, and who
  $ nccl-trace inspect RUN --json | jq .file.life  one JSON object per file, for scripts
  $ nccl-trace inspect rank00003.bin --records 50  and its newest 50 records, one per line
  $ nccl-trace inspect rank00003.bin --records --json > records.jsonl
`;

export function inspectCommand(setExit: (code: ExitCode) => void): Command {
  return new Command('inspect')
    .description('Show what rank files hold: header, communicators, rings, losses, records.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .option(
      '--json',
      'one JSON object per line: {"diagnosis": ...} of several files, {"file": ...}, {"record": ...}',
    )
    .option('--records [n]', 'every record in order of time, or the newest n', positiveInteger)
    .option('--strict', 'exit with 1 if a file cannot be used or has problems')
    .addHelpText('beforeAll', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      setExit(await run(paths, options));
    });
}

async function run(paths: readonly string[], options: Options): Promise<ExitCode> {
  const found = findRankFiles(paths);
  for (const problem of found.problems) complain(problem);
  if (found.files.length > 1 && !(await showVerdict(paths, options))) return ExitCode.ok;
  let used = 0;
  let clean = found.problems.length === 0;
  for (const path of found.files) {
    const summary = summaryOrComplaint(path);
    if (summary === null) {
      clean = false;
      continue;
    }
    if (options.json !== true && used > 0) await print('\n');
    if (!(await show(summary, options))) return ExitCode.ok;
    used++;
    clean &&= summary.problems.length === 0;
  }
  if (used === 0) return ExitCode.noUsableInput;
  return options.strict === true && !clean ? ExitCode.problems : ExitCode.ok;
}

/** Of several files first what they say together. False when nobody reads on. */
async function showVerdict(paths: readonly string[], options: Options): Promise<boolean> {
  try {
    const { problems, ...diagnosis } = await diagnose(paths);
    for (const problem of problems) complain(problem);
    if (options.json === true) return await print(jsonLine({ diagnosis }));
    const lines = verdictText(diagnosis);
    return await print([...lines, ''].map((line) => `${line}\n`).join(''));
  } catch (error) {
    // Each file is about to be complained of by itself.
    if (error instanceof NoUsableInput) return true;
    throw error;
  }
}

function summaryOrComplaint(path: string): FileSummary | null {
  try {
    const file = streamRankFile(path);
    try {
      return summarize(file);
    } finally {
      file.close();
    }
  } catch (error) {
    if (!(error instanceof RankFileError)) throw error;
    complain(error.message);
    return null;
  }
}

function complain(words: string): void {
  process.stderr.write(`nccl-trace: ${printable(words)}\n`);
}

/** False when nobody reads on (`| head`). */
async function show(summary: FileSummary, options: Options): Promise<boolean> {
  const facts = options.json === true ? jsonLine({ file: summary }) : summaryText(summary);
  if (!(await print(facts))) return false;
  if (options.records === undefined) return true;
  const total = summary.rings.reduce((sum, ring) => sum + ring.records, 0);
  const wanted = options.records === true ? total : options.records;
  if (options.json !== true && !(await print('\n'))) return false;
  const file = streamRankFile(summary.path);
  try {
    return await showRecords(file, options, total - wanted);
  } finally {
    file.close();
  }
}

async function showRecords(file: RankFileStream, options: Options, skip: number): Promise<boolean> {
  let seen = 0;
  let text = '';
  for (const run of mergedRuns(file))
    for (let row = run.from; row < run.end; row++) {
      if (seen++ < skip) continue;
      const record = describeRecord(file, run.ring, run.records, row);
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

/** JSON escapes C0 itself; the rest of what a terminal might obey is escaped here. */
function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}

/** Waits for a slow reader; false when it has gone. The listener is there because an unheard error ends the process. */
function print(text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const heard = (): void => undefined;
    process.stdout.on('error', heard);
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) {
        process.stdout.off('error', heard);
        resolve(true);
      } else if ('code' in error && error.code === 'EPIPE') resolve(false);
      else reject(error);
    });
  });
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('must be a whole number from 1 up.');
  return value;
}
