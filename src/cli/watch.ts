/**
 * `nccl-trace watch`: says by itself when a job hangs, slows down or loses a rank, and takes what will be gone when the scheduler ends the
 * job. It runs beside the job and only reads.
 */

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Interrupted } from '../base/errors.js';
import { hint } from '../base/nearest.js';
import { ALARMS, type AlarmKind, type Change } from '../live/alarm.js';
import { watch } from '../live/watch.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { printable } from '../report/text.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { addFailOn, type FailOnFlag } from './fail_on.js';
import { commandWith } from './help.js';
import { Incidents, now } from './incidents.js';
import { interruptible } from './interrupts.js';
import { lookProcess } from './look_process.js';
import { amount, wholeNumber } from './numbers.js';
import { oneOf } from './one_of.js';
import { besideRas, RAS_HERE, rasFiles } from './ras_option.js';
import { addRunOption, listsRuns } from './run_option.js';
import { complain, print } from './streams.js';
import { addVerdictOptions } from './verdict_options.js';

interface Options extends FailOnFlag {
  readonly json?: true;
  readonly run?: string;
  readonly hungAfter?: number;
  readonly every: number;
  readonly linger: number;
  readonly actOn: readonly AlarmKind[];
  readonly output?: string;
  readonly incidents: number;
  readonly snapshot: boolean;
  readonly stacks: (typeof STACKS)[number];
  readonly exec?: string;
  readonly ringDir?: string;
  readonly ras?: string | true;
  readonly quiet?: true;
}

const EXAMPLES = `Examples, beside the job, on each of its nodes:
  $ nccl-trace watch nccl-trace/                        one line when the verdict changes
  $ nccl-trace watch nccl-trace/ --exec './page-me.sh'  and a command, with the verdict as JSON
  $ nccl-trace watch nccl-trace/ --fail-on hung,broken  exit with 5 if the job ends so
  $ nccl-trace watch nccl-trace/ --json >> watch.jsonl  for machines
`;

/** The option is the same in each command that follows a job. */
export const EVERY = [
  '--every <seconds>',
  'length of a window',
  amount('a number of seconds', { least: 1, most: 3600 }),
  5,
] as const;

const ACT_ON: readonly AlarmKind[] = ['hung', 'broken', 'mismatch'];
const STACKS = ['auto', 'gdb', 'off'] as const;

export function watchCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('watch', EXAMPLES)
    .description('Say when a running job hangs, slows down or loses a rank.')
    .argument('<dir>', 'the NCCL_TRACE_DIR of the job, or of one run')
    .option('--json', 'one JSON object per line')
    .option('--exec <command>', 'run it once per incident, with the verdict on stdin')
    .option('-o, --output <folder>', 'folder for incidents (default: DIR/incidents)')
    .addOption(
      new Option('--act-on <list>', `an incident is one of ${ALARMS.join(',')}, or none`)
        .argParser(kinds)
        .default(ACT_ON, ACT_ON.join(',')),
    )
    .option('--incidents <n>', 'take no more than so many', wholeNumber(0), 3)
    .option('--no-snapshot', 'do not copy the rank files of this node')
    .addOption(
      new Option('--stacks <how>', 'of the suspects, by py-spy or gdb')
        .choices(STACKS)
        .argParser(oneOf(STACKS))
        .default('auto'),
    )
    .option(...EVERY)
    .option(
      '--linger <seconds>',
      'after the end, wait for a restart',
      amount('a number of seconds', { least: 0, most: 1e6 }),
      30,
    )
    .option('--ring-dir <folder>', "the job's NCCL_TRACE_RING_DIR, if it was set")
    .option('--ras [source]', "at each change also ask NCCL's RAS (localhost:28028, or HOST:PORT)")
    .option('-q, --quiet', 'print what is asked for and errors only');
  return addFailOn(addVerdictOptions(addRunOption(command))).action(
    async (folder: string, options: Options) => {
      setExit(await run(folder, options));
    },
  );
}

function kinds(text: string): readonly AlarmKind[] {
  if (text.toLowerCase() === 'none') return [];
  return text.split(',').map((name) => {
    const kind = ALARMS.find((one) => one === name.toLowerCase());
    if (kind === undefined)
      throw new InvalidArgumentError(`must be of ${ALARMS.join(',')}, or none.${hint(name, ALARMS)}`);
    return kind;
  });
}

async function run(folder: string, options: Options): Promise<ExitCode> {
  if (await listsRuns([folder], options)) return ExitCode.ok;
  const note = options.quiet === true ? (): void => undefined : complain;
  const { ringDir, output = path.join(folder, 'incidents') } = options;
  const ringBases = ['/dev/shm', ...(ringDir === undefined ? [] : [path.resolve(ringDir)])];
  const ras = options.ras === true ? RAS_HERE : options.ras;
  const asks = ras === undefined ? undefined : rasFiles(ras);
  const incidents = new Incidents({ ...options, output, ringBases, note, ras: asks });
  note(`watches ${path.resolve(folder)}`);
  // The job may not have made its folder yet.
  let seen: string | null | undefined;
  try {
    const alarm = await interruptible((interrupt) => {
      const isRead = new AbortController();
      return watch({
        folder,
        run: options.run,
        every: options.every * 1000,
        linger: options.linger * 1000,
        hungAfter: options.hungAfter,
        look: (wanted) => lookProcess({ ...wanted, hungAfter: options.hungAfter }, interrupt),
        onChange: async (change, seenNow) => {
          const { problems, ...found } = await besideRas({ ...seenNow, problems: [] }, ras);
          problems.forEach(note);
          const text = options.json ? changeJson(change, found) : changeText(change, found);
          if (!(await print(text))) isRead.abort();
        },
        onSight: ({ run }) => {
          if (run !== seen && options.actOn.length > 0 && options.incidents > 0) incidents.check();
          seen = run;
        },
        actOn: options.actOn,
        onIncident: (alarm, found, members) => {
          incidents.take(alarm, found, members);
        },
        onNote: note,
        interrupt: AbortSignal.any([interrupt, isRead.signal]),
      });
    });
    await incidents.done;
    return alarm !== null && options.failOn?.includes(alarm) === true ? ExitCode.verdict : ExitCode.ok;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await Promise.race([incidents.done, pause(FINISH_WITHIN, undefined, { ref: false })]);
    return error.signal === undefined ? ExitCode.ok : exitCodeOf(error);
  }
}

/** ms: an incident under way when the scheduler ends the node's job. */
const FINISH_WITHIN = 5_000;

const changeText = ({ headline }: Change, { ras }: Pick<Diagnosis, 'ras'>): string =>
  [printable(headline), ...(ras?.says ?? []).map((one) => `RAS: ${printable(one)}`)]
    .map((line) => `${now()}  ${line}\n`)
    .join('');

const changeJson = ({ change, headline }: Change, diagnosis: Omit<Diagnosis, 'problems'>): string =>
  `${JSON.stringify({ at: now(), change, headline, diagnosis })}\n`;
