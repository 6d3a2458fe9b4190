/**
 * `nccl-trace control`: makes a running job record less, or everything that it was started with. Nothing can be added, because NCCL
 * may fail if an event type begins in mid-run.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { commandWith } from './help.js';

import { durationText } from '../base/duration.js';
import { NoUsableInput, OutputError, RankFileError, UsageError } from '../base/errors.js';
import { sentenceText } from '../base/sentence.js';
import { codeOf, reason } from '../base/reason.js';
import {
  checkMayRequest,
  type ControlWish,
  EventType,
  eventTypeNames,
  findRankFiles,
  openRankFileHeader,
  openRankFileTables,
  requestControl,
  isCurrent,
  isWrittenBy,
  processNow,
  type ControlRequest,
  type WrittenFile,
} from '../rankfile/index.js';
import type { RankFileHeader } from '../rankfile/file_types.js';
import { ExitCode } from './exit.js';
import { amount, wholeNumber } from './numbers.js';
import { printable } from '../report/text.js';
import { complain } from './streams.js';

interface Options {
  readonly events?: readonly string[];
  readonly sample?: number;
  readonly wait: number;
  readonly quiet?: true;
}

const EXAMPLES = `Examples, with the rank files of a running job:
  $ nccl-trace control RUN --events Coll,P2p,ProxyOp    only these from now on
  $ nccl-trace control RUN --events all --sample 1      everything it was started with
  $ nccl-trace control RUN --sample 100                 every 100th collective, the same on all ranks
`;

const POLL_MS = 100;
/**
 * Seconds. A recorder writes a heartbeat once a second. If the newest heartbeat is older than this, the recorder has ended. Its file is
 * then evidence and is not changed.
 */
const GONE_AFTER = 60;

export function controlCommand(setExit: (code: ExitCode) => void): Command {
  return commandWith('control', EXAMPLES)
    .description('Make a running job record fewer events, or all again.')
    .argument('<paths...>', 'rank files of a running job, or directories that hold them')
    .option(
      '--events <list>',
      'event types to record: names, none, or all (what the job was started with)',
      eventList,
    )
    .option(
      '--sample <n>',
      'every Nth collective, by its sequence number; 1: all',
      wholeNumber(1, 2 ** 31 - 1),
    )
    .option(
      '--wait <seconds>',
      'how long to wait for the answers of the recorders',
      amount('a number of seconds', { least: 0, most: 1e6 }),
      10,
    )
    .option('-q, --quiet', 'print only recorders that did not answer or refused')
    .action(async (paths: string[], options: Options) => {
      setExit(await run(paths, options));
    });
}

async function run(paths: readonly string[], options: Options): Promise<ExitCode> {
  const { events, sample, wait, quiet = false } = options;
  if (events === undefined && sample === undefined) throw new UsageError('give --events, --sample or both');
  const found = findRankFiles(paths);
  if (!quiet) for (const problem of found.problems) complain(sentenceText(problem));
  // All recorders are checked first. If one of them cannot do it, none is asked.
  const files = found.files.flatMap((path) => {
    const header = headerOf(path, quiet);
    return header === null ? [] : [{ path, header, wish: wishFor(path, header, events, sample) }];
  });
  if (files.length === 0) throw new NoUsableInput('no rank file of a running job');
  for (const { path } of files) checkRequest(path);
  const asked = files.map(({ path, header, wish }) => ({
    path,
    refused: header.controlRefused,
    asking: request(path, header.tag, wish),
  }));
  const deadline = Date.now() + wait * 1000;
  let all = true;
  for (const { path, asking, refused } of asked) {
    const header = await answer(path, asking, deadline);
    const isDone = typeof header !== 'string' && !('failed' in header) && header.controlRefused === refused;
    all &&= isDone;
    if (!quiet || !isDone) process.stdout.write(`${printable(outcome(path, header, refused))}\n`);
  }
  return all ? ExitCode.ok : ExitCode.problems;
}

/** Throws OutputError. */
function checkRequest(path: string): void {
  try {
    checkMayRequest(path);
  } catch (error) {
    const advice = 'no recorder was asked; run this as the user of the job, on its node';
    const what =
      codeOf(error) === 'ELOOP' ? 'is a symbolic link, which requests do not follow' : reason(error);
    throw new OutputError(path, what, advice, { cause: error });
  }
}

/** A failure after the check concerns this file alone, so the other recorders are still asked. */
function request(path: string, tag: bigint, wish: ControlWish): ControlRequest | Failed {
  try {
    return requestControl(path, tag, wish);
  } catch (error) {
    return { failed: inWordsOf(error) };
  }
}

const inWordsOf = (error: unknown): string => (error instanceof RankFileError ? error.what : reason(error));

/** Null, with a message, for a file whose process no longer records. Such a file is not written to. */
function headerOf(path: string, quiet: boolean): RankFileHeader | null {
  try {
    const { header, heartbeat } = openRankFileTables(path);
    const silent = heartbeat === null ? 0 : Date.now() / 1e3 - Number(heartbeat.realtime / 1_000_000n) / 1e3;
    const why =
      header.life !== 'recording'
        ? 'closed'
        : silent >= GONE_AFTER
          ? `no heartbeat for ${durationText(silent * 1e9)}`
          : whyNotOfJob({ path, header });
    if (why === null) return header;
    if (!quiet) process.stderr.write(`nccl-trace: ${printable(path)}: ${why}; left out\n`);
  } catch (error) {
    if (!(error instanceof RankFileError)) throw error;
    process.stderr.write(`nccl-trace: ${printable(error.message)}\n`);
  }
  return null;
}

/** Of another node or container nothing is known but its heartbeat. */
function whyNotOfJob(file: WrittenFile): string | null {
  const now = processNow(file);
  if (now === 'gone') return 'its process has ended';
  return now !== 'unknown' && isWrittenBy(file.header.process.pid, file) === false
    ? 'it names a process that is not of this job'
    : null;
}

function wishFor(
  path: string,
  header: RankFileHeader,
  names: readonly string[] | undefined,
  sample: number | undefined,
): { events: number; sample: number } {
  const events =
    names === undefined ? header.maskNow : names.includes('all') ? header.eventMask : maskOf(names);
  const added = eventTypeNames(events & ~header.eventMask);
  if (added.length > 0)
    throw new UsageError(
      `${path}: ${added.join(', ')} cannot be added while the job runs, because NCCL may fail; ` +
        `it was started with ${eventTypeNames(header.eventMask).join(', ')}`,
    );
  return { events, sample: sample ?? header.sampleNow };
}

const maskOf = (names: readonly string[]): number =>
  names.reduce((mask, name) => mask | (EventType as Readonly<Record<string, number>>)[name]!, 0);

interface Failed {
  readonly failed: string;
}
type NoAnswer = 'replaced' | 'no answer' | Failed;

async function answer(
  path: string,
  asking: ControlRequest | Failed,
  deadline: number,
): Promise<RankFileHeader | NoAnswer> {
  if ('failed' in asking) return asking;
  for (;;) {
    try {
      const header = openRankFileHeader(path);
      // Checked first, because another request with the same number may have replaced this one.
      if (!isCurrent(path, asking)) return 'replaced';
      if (header.controlAnswered === asking.number) return header;
    } catch (error) {
      if (!(error instanceof RankFileError)) throw error;
      return { failed: error.what }; // its file went away; the others may still answer
    }
    if (Date.now() >= deadline) return 'no answer';
    await pause(POLL_MS);
  }
}

function outcome(path: string, header: RankFileHeader | NoAnswer, refused: number): string {
  if (header === 'replaced') return `${path}: another request has replaced this one; ask again`;
  if (typeof header !== 'string' && 'failed' in header) return `${path}: no answer: ${header.failed}`;
  if (header === 'no answer') return `${path}: no answer; is the job still running?`;
  if (header.controlRefused !== refused) return `${path}: refused`;
  const events = eventTypeNames(header.maskNow).join(',') || 'nothing';
  return `${path}: records ${events}${header.sampleNow > 1 ? `, 1 of ${header.sampleNow} collectives` : ''}`;
}

function eventList(text: string): readonly string[] {
  if (text === 'none') return [];
  const names = text.split(',');
  if (text === 'all') return names;
  const known = Object.keys(EventType);
  return names.map((name) => {
    const found = known.find((type) => type.toLowerCase() === name.toLowerCase());
    if (found === undefined)
      throw new InvalidArgumentError(`"${name}" is not an event type; there are ${known.join(', ')}.`);
    return found;
  });
}
