/**
 * `nccl-trace prune`: removes the rank files of old runs from a directory that all jobs record into. A run stays if its files may still be
 * needed: its processes run, it is young, or it hung or broke off. The verdict decides that, so only runs that are to go are read. What is
 * removed is what was found below the directory (old_files.ts), and nothing of another user unless that was asked for.
 */

import { InvalidArgumentError, type Command } from 'commander';
import { durationText } from '../base/duration.js';
import { NoUsableInput, RankFileError } from '../base/errors.js';
import { hint } from '../base/nearest.js';
import { reason } from '../base/reason.js';
import { sentenceText } from '../base/sentence.js';
import { binarySize, counted } from '../base/units.js';
import { HeldFolder } from '../output/held_folder.js';
import { processNow, SAVED_RINGS } from '../rankfile/index.js';
import { diagnose } from '../report/diagnosis.js';
import { printable } from '../report/text.js';
import { findRuns, type FileInRun } from '../runs/find_runs.js';
import { lastSeen, type FoundRun } from '../runs/runs.js';
import { ExitCode } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { filesBelow, removeFiles, type OldFile } from './old_files.js';
import { complain, say } from './streams.js';

interface Options {
  readonly keep: Keep;
  readonly healthyOnly?: true;
  readonly even?: readonly Reason[];
  readonly allUsers?: true;
  readonly dryRun?: true;
  readonly quiet?: true;
}

type Keep = { readonly runs: number } | { readonly bytes: number };

/** What keeps a run, unless it is asked for. */
const REASONS = ['young', 'hung', 'broken'] as const;
type Reason = (typeof REASONS)[number];

/** ms */
const DAY = 86_400_000;
/** ms: a recorder on another host writes a heartbeat once a second, and its file may reach us late. */
const SILENT_AFTER = 600_000;

const EXAMPLES = `Examples, for a cron job:
  $ nccl-trace prune DIR --keep 50 --dry-run            what would go if the newest 50 runs are kept
  $ nccl-trace prune DIR --keep 500GB                   the oldest runs, until the others take no more than this
  $ nccl-trace prune DIR --keep 20 --healthy-only       only runs whose verdict is HEALTHY
`;

export function pruneCommand(setExit: (code: ExitCode) => void): Command {
  return commandWith('prune', EXAMPLES)
    .description('Remove rank files of old runs, of none that hung or runs.')
    .argument('<dir>', 'the NCCL_TRACE_DIR of many runs')
    .requiredOption('--keep <n|bytes>', 'keep the newest N runs, or 500GB, 2TiB of runs', keep)
    .option('--healthy-only', 'remove no run whose verdict is not HEALTHY')
    .option('--even <list>', `also runs that are ${REASONS.join(',')} (under a day)`, reasons)
    .option('--all-users', 'also runs of other users, as root')
    .option('-n, --dry-run', 'remove nothing, print what would be removed')
    .option('-q, --quiet', 'print errors only')
    .action(async (folder: string, options: Options) => {
      setExit(await interruptible((interrupt) => run(folder, options, interrupt)));
    });
}

function keep(text: string): Keep {
  const [, number = '', unit] = /^(\d+(?:\.\d+)?)(?:([kMGT]i?)B)?$/.exec(text) ?? [];
  if (unit === undefined && /^\d+$/.test(number)) return { runs: Number(number) };
  if (unit === undefined)
    throw new InvalidArgumentError('must be a number of runs, or a size as 500GB or 2TiB.');
  return { bytes: Number(number) * (unit.endsWith('i') ? 1024 : 1000) ** ('kMGT'.indexOf(unit[0]!) + 1) };
}

const reasons = (text: string): readonly Reason[] =>
  text.split(',').map((name) => {
    const known = REASONS.find((one) => one === name);
    if (known === undefined)
      throw new InvalidArgumentError(`must be of ${REASONS.join(',')}.${hint(name, REASONS)}`);
    return known;
  });

interface OldRun extends FoundRun<FileInRun> {
  /** On the disk. */
  readonly bytes: number;
  /** ms since the Unix epoch: the last sign of life, or the last write, which is later for a copy. */
  readonly last: number;
  /** With saved rings. */
  readonly old: readonly OldFile[];
}

async function run(folder: string, options: Options, interrupt: AbortSignal): Promise<ExitCode> {
  const held = open(folder);
  const { runs, unusable } = runsIn(held);
  for (const sentence of unusable) complain(`${sentenceText(sentence)}; it is left alone`);
  const total = { runs: runs.length, bytes: runs.reduce((sum, { bytes }) => sum + bytes, 0) };
  const gone = { runs: 0, bytes: 0 };
  const kept: string[] = [];
  for (const one of [...runs].reverse()) {
    const isOver =
      'runs' in options.keep
        ? runs.indexOf(one) >= options.keep.runs
        : total.bytes - gone.bytes > options.keep.bytes;
    if (!isOver) break;
    const why = await whyKept(one, options, interrupt);
    if (why !== null) {
      kept.push(`${printable(one.name)}: kept, ${why}`);
      continue;
    }
    if (!options.dryRun) removeFiles(held, one.old, isMine(options));
    gone.runs++;
    gone.bytes += one.bytes;
    if (!options.quiet)
      process.stdout.write(
        `${options.dryRun ? 'would remove' : 'removed'} ${printable(one.name)} (${binarySize(one.bytes)}, ${durationText((Date.now() - one.last) * 1e6)} old)\n` +
          one.old.map(({ path }) => `  ${printable(path)}\n`).join(''),
      );
  }
  if (!options.quiet) {
    for (const line of kept) say(`${line}\n`);
    const rest = `${counted(total.runs - gone.runs, 'run')}, ${binarySize(total.bytes - gone.bytes)}`;
    say(`${options.dryRun ? 'would stay' : 'left'}: ${rest}\n`);
  }
  return ExitCode.ok;
}

function open(folder: string): HeldFolder {
  try {
    return HeldFolder.named(folder);
  } catch (error) {
    throw new NoUsableInput(`${folder}: ${reason(error)}`, { cause: error });
  }
}

/** The newest first. */
function runsIn(folder: HeldFolder): { runs: OldRun[]; unusable: ReturnType<typeof findRuns>['unusable'] } {
  const files = new Map(filesBelow(folder).map((file) => [file.path, file]));
  const isRead = ({ path, isLink }: OldFile): boolean =>
    !isLink && !(path.endsWith(SAVED_RINGS) && files.has(path.slice(0, -SAVED_RINGS.length)));
  const { runs, unusable } = findRuns([...files.values()].filter(isRead).map(({ path }) => path));
  const found = runs.map((one): OldRun => {
    const old = one.files.flatMap(({ path }) =>
      [path, `${path}${SAVED_RINGS}`].flatMap((file) => files.get(file) ?? []),
    );
    const seen = one.files.map((file) => Number(lastSeen(file) / 1_000_000n));
    const last = [...old.map(({ stat }) => stat.mtimeMs), ...seen].reduce((a, b) => Math.max(a, b), 0);
    return { ...one, old, last, bytes: old.reduce((sum, { stat }) => sum + stat.blocks * 512, 0) };
  });
  return { runs: found.sort((a, b) => b.last - a.last), unusable };
}

/** Whether prune may remove what this user owns. */
const isMine =
  ({ allUsers }: Options) =>
  (uid: number): boolean =>
    allUsers === true || uid === process.geteuid!();

/** null: it may go. */
async function whyKept(one: OldRun, options: Options, interrupt: AbortSignal): Promise<string | null> {
  const { even = [], healthyOnly } = options;
  const stranger = one.old.find(({ stat }) => !isMine(options)(stat.uid));
  if (stranger !== undefined) return `it belongs to user ${stranger.stat.uid} (--all-users removes it)`;
  if (one.files.some(isAlive)) return 'its processes run';
  const age = Date.now() - one.last;
  if (age < DAY && !even.includes('young')) return `it is ${durationText(age * 1e6)} old`;
  if (one.old.some(({ isBesideLink }) => isBesideLink)) return 'a link lies among its files';
  const kind = await kindOf(one, interrupt);
  if (kind === null) return 'it cannot be judged';
  if (healthyOnly && kind !== 'healthy') return `its verdict is ${kind.toUpperCase()}`;
  // A stall that is too young for a hang, when the records end there: the job was ended in it.
  const asked = kind === 'waiting' ? 'hung' : kind;
  const isReason = REASONS.some((one) => one === asked);
  return isReason && !even.some((one) => one === asked) ? `its verdict is ${kind.toUpperCase()}` : null;
}

/** Also a stopped process: it may go on. */
function isAlive(file: FileInRun): boolean {
  if (file.header.life === 'closed') return false;
  const now = processNow(file);
  if (now !== 'unknown') return now !== 'gone';
  return Date.now() - Number(lastSeen(file) / 1_000_000n) < SILENT_AFTER;
}

async function kindOf({ files }: OldRun, interrupt: AbortSignal): Promise<string | null> {
  try {
    const { verdict } = await diagnose(
      files.map((file) => file.path),
      { interrupt },
    );
    return verdict.kind;
  } catch (error) {
    if (error instanceof NoUsableInput || error instanceof RankFileError) return null;
    throw error;
  }
}
