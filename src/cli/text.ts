/**
 * `nccl-trace text`: rank files as one text that a person can read, search and attach to a report, and back: a text becomes rank files that a reader
 * cannot tell from the first ones. schemas/rank-text.md describes the lines.
 */

import path from 'node:path';
import type { Command } from 'commander';
import { RankFileError, UsageError } from '../base/errors.js';
import {
  filesOfText,
  findRankFiles,
  isRankText,
  openRankFileHeader,
  openRankFileTables,
  rankFileLines,
  type Redaction,
  TITLE,
  writeTextFile,
} from '../rankfile/index.js';
import { Kind } from '../rankfile/format/constants.js';
import type { RankFileHeader } from '../rankfile/file_types.js';
import { printable } from '../report/text.js';
import { pickFiles } from '../runs/find_runs.js';
import { type Aliases, hidden, redactFile, said } from '../runs/redact.js';
import { ExitCode } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { makeRankFile, refuseExisting } from './new_rank_files.js';

import { addRunOptions, listsRuns } from './run_option.js';
import { complain, print } from './streams.js';

interface Options {
  readonly output?: string;
  readonly run?: string;
  readonly redact?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace text RUN --redact > run.txt         all rank files of a run in one text, to attach to a report
  $ nccl-trace text run.txt -o again               its rank files again, in the folder "again"
`;

export function textCommand(setExit: (code: ExitCode) => void): Command {
  return addRunOptions(
    commandWith('text', EXAMPLES)
      .description('Print rank files as text, or make rank files of a text.')
      .argument('<paths...>', 'rank files or their directories; with -o: texts')
      .option('-o, --output <folder>', 'make the rank files of the texts in this folder'),
  ).action(async (paths: string[], options: Options) => {
    setExit(await run(paths, options));
  });
}

async function run(paths: readonly string[], options: Options): Promise<ExitCode> {
  const { output } = options;
  if (output !== undefined) return readBack(paths, output, options);
  if (await listsRuns(paths, options)) return ExitCode.ok;
  const text = paths.find(isRankText);
  if (text !== undefined)
    throw new UsageError(`${text}: is a text already; name a folder for its rank files with -o`);
  const found = findRankFiles(paths);
  const { files, aliases } = pickFiles(found.files, options);
  for (const problem of found.problems) complain(said(problem, aliases));
  return printFiles(files, aliases);
}

async function printFiles(files: readonly string[], aliases: Aliases | null): Promise<ExitCode> {
  const names = namesOf(files, aliases);
  if (!(await print(`${TITLE}\n`))) return ExitCode.ok;
  let used = 0;
  for (const file of files) {
    try {
      if (!(await printFile(file, names.get(file)!, aliases))) return ExitCode.ok;
      used++;
    } catch (error) {
      if (!(error instanceof RankFileError)) throw error;
      const sentence = said(error.sentence, aliases);
      complain(sentence);
      if (!(await print(`# not in this text: ${printable(sentence)}\n`))) return ExitCode.ok;
    }
  }
  return used === 0 ? ExitCode.noUsableInput : ExitCode.ok;
}

/** Their own names, with the folder where two are alike. */
function namesOf(files: readonly string[], aliases: Aliases | null): ReadonlyMap<string, string> {
  const spellings = [
    (file: string): string => aliases?.paths.get(file) ?? path.basename(file),
    (file: string): string => path.resolve(file).split(path.sep).slice(-2).join('/'),
    (file: string): string => `${files.indexOf(file)}/${path.basename(file)}`,
  ];
  const spell = spellings.find((one) => new Set(files.map(one)).size === files.length)!;
  return new Map(files.map((file) => [file, spell(file)]));
}

/** False when the reader has closed the pipe. */
async function printFile(file: string, name: string, aliases: Aliases | null): Promise<boolean> {
  const tables = openRankFileTables(file);
  const shown = aliases === null ? tables : redactFile(tables, aliases);
  const redaction = aliases === null ? null : redactionOf(shown.header, aliases);
  let text = '';
  for (const line of rankFileLines(file, name, shown.strings, redaction)) {
    text += `${line}\n`;
    if (text.length < 1 << 16) continue;
    if (!(await print(text))) return false;
    text = '';
  }
  return print(text);
}

/** `header`: with its aliases. A boot id stays one in form. */
function redactionOf(header: RankFileHeader, aliases: Aliases): Redaction {
  const { hostName, ncclHostId, program, runId, gpu, ringPath, options, process } = header;
  const boot = /\d+$/.exec(process.bootId)?.[0] ?? '';
  return {
    header: new Map(
      Object.entries({ hostName, ncclHostid: ncclHostId, program, runId, gpu, ringPath, options }),
    ) as Redaction['header'],
    bootId: boot.padStart(32, '0'),
    hide: (kind, text) =>
      kind === Kind.Communicator
        ? hidden.comm(text, aliases)
        : kind === Kind.Lease
          ? hidden.thread(text, aliases)
          : hidden.string(text, aliases),
  };
}

/** A file appears whole or not at all. */
function readBack(texts: readonly string[], output: string, options: Options): Promise<ExitCode> {
  if (options.redact ?? options.run !== undefined)
    throw new UsageError('--redact and --run are for printing a text, not with -o');
  return interruptible(async (interrupt) => {
    for (const text of texts) {
      if (!isRankText(text)) refuse(text);
      for (const file of filesOfText(text)) {
        const to = path.join(output, file.name);
        refuseExisting(to);
        await makeRankFile(to, interrupt, (draft) => {
          writeTextFile(file, draft);
        });
        if (!(await print(`${printable(to)}\n`))) return ExitCode.ok;
      }
    }
    return ExitCode.ok;
  });
}

function refuse(file: string): never {
  openRankFileHeader(file); // its error, if it is neither
  throw new UsageError(`${file}: is a rank file; without -o it is printed as text, and -o reads a text`);
}
