/**
 * `nccl-trace demo`: records a run without a GPU, and merges it. The ranks are processes. Their bytes, their sockets and the plugin are
 * real. The loopback (tools/loopback) takes the place of NCCL.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { commandWith } from './help.js';
import { OutputError, UsageError } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { merge } from '../merge.js';
import { makeFolder } from '../output/make_folder.js';
import { interruptedBy, withWorkFolder } from '../output/work_folder.js';
import { ExitCode } from './exit.js';
import { interruptible } from './interrupts.js';
import { wholeNumber } from './numbers.js';
import { hasProblems } from './merge.js';
import { mergeReportText } from '../report/merge_report.js';
import { traceTexts } from '../report/headline.js';
import { LOOPBACK, nativeFiles, PLUGIN } from './native_files.js';
import { oneOf } from './one_of.js';
import { checkNames, writeSummary } from './output.js';
import { complain, say, tellProblems } from './streams.js';
import { coloured, whileWatched } from './watching.js';

const SCENARIOS = {
  healthy: () => 'nothing goes wrong',
  straggler: (victim: number) => `rank ${victim} begins every iteration 100 ms late`,
  hang: (victim: number) => `rank ${victim} kills itself in mid collective, the others wait for it`,
};
type Scenario = keyof typeof SCENARIOS;

interface Options {
  readonly ranks: number;
  readonly scenario: Scenario;
  readonly output: string;
  readonly keep?: string;
  readonly force?: true;
  readonly strict?: true;
  readonly summary?: string;
  readonly quiet?: true;
}

/**
 * One iteration, as in training: small collectives in groups of four ranks, a large collective of all ranks, transfers between neighbours.
 */
const TENSOR_PARALLEL_OPS = 'allreduce@tp:256K*3,';
const OPS = 'allreduce:4M,allreduce:192K,group{send+recv:256K}';

/** A machine that is busy holds up some rank now and then. So few iterations cannot show that it is always the same one. */
const ITERATIONS: Record<Scenario, number> = { healthy: 4, straggler: 12, hang: 4 };

/** The loopback's code for "hung, as was asked for". */
const HUNG_AS_ASKED = 4;

export function demoCommand(setExit: (code: ExitCode) => void): Command {
  return commandWith('demo', EXAMPLES)
    .description('Record a run on this machine, without a GPU, and merge it.')
    .option('-r, --ranks <n>', 'processes', wholeNumber(2, 64), 8)
    .addOption(
      new Option('-s, --scenario <name>', 'what goes wrong with the last rank')
        .choices(Object.keys(SCENARIOS))
        .argParser(oneOf(Object.keys(SCENARIOS)))
        .default('healthy'),
    )
    .option('-o, --output <file>', 'the trace', 'demo.pftrace')
    .option('-k, --keep <dir>', 'keep the rank files in this new directory')
    .option('-f, --force', 'replace an existing trace or summary, and nothing else')
    .option('--strict', 'exit with 1 if the report names any problem')
    .option('--summary <file>', 'write the findings as JSON, - for the standard output (schemas/trace.md)')
    .option('-q, --quiet', 'no report, no progress, errors only')
    .action(async (options: Options) => {
      setExit(await interruptible((interrupt) => run(options, interrupt)));
    });
}

const EXAMPLES = `Examples:
  $ nccl-trace demo                                  8 ranks, two kinds of communicators, demo.pftrace
  $ nccl-trace demo --scenario hang -o hang.pftrace  what a killed rank looks like
  $ nccl-trace demo --keep demo-run                  keep the rank files, to inspect them
`;

async function run(options: Options, interrupt: AbortSignal): Promise<ExitCode> {
  checkNames(options, []);
  const { keep } = options;
  if (keep === undefined)
    return withWorkFolder(tmpdir(), interrupt, (folder) => recordAndMerge(folder, options, interrupt));
  if (existsSync(keep)) throw new OutputError(keep, 'already exists', 'name a new directory with --keep');
  try {
    makeFolder(keep, 0o777);
  } catch (error) {
    throw new OutputError(keep, reason(error), 'name a new directory with --keep', { cause: error });
  }
  return recordAndMerge(resolve(keep), options, interrupt);
}

async function recordAndMerge(folder: string, options: Options, interrupt: AbortSignal): Promise<ExitCode> {
  const { output, force, quiet, summary } = options;
  const [plugin, loopback] = await nativeFiles(PLUGIN, LOOPBACK);
  if (!quiet) say(`recording ${options.ranks} ranks: ${SCENARIOS[options.scenario](options.ranks - 1)}\n`);
  await record(loopback, loopbackArguments(options), environment(plugin, folder), interrupt);
  const report = await whileWatched(quiet ?? false, (onProgress) =>
    merge({
      inputs: [folder],
      output,
      force,
      // The ranks have ended, however recent their heartbeats are.
      hungAfter: 1,
      stdout: process.stdout,
      interrupt,
      onProgress,
      onWait: quiet ? undefined : complain,
      texts: traceTexts,
    }),
  );
  if (quiet) tellProblems(report, true);
  else say(coloured(mergeReportText(report, { isTerminal: process.stderr.isTTY }), process.stderr));
  if (summary !== undefined) await writeSummary(summary, report, { force, inputs: [] });
  return options.strict && hasProblems(report) ? ExitCode.problems : ExitCode.ok;
}

function loopbackArguments({ ranks, scenario }: Options): string[] {
  const victim = String(ranks - 1);
  const faults: Record<Scenario, string[]> = {
    healthy: [],
    straggler: ['--slow', `host:${victim}:100ms`],
    hang: ['--fault', `kill:${victim}@2`, '--hang-seconds', '3'],
  };
  const hasGroups = ranks % 4 === 0;
  const groups = hasGroups ? ['--groups', 'tp=4'] : [];
  const ops = hasGroups ? TENSOR_PARALLEL_OPS + OPS : OPS;
  return [
    '--ranks',
    String(ranks),
    '--iterations',
    String(ITERATIONS[scenario]),
    '--quiet',
    ...groups,
    '--ops',
    ops,
    ...faults[scenario],
  ];
}

/** Records all events, in rings that hold the whole demo. Settings of the user's shell are removed, because they would change the demo. */
function environment(plugin: string, folder: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^NCCL_|^(RANK|WORLD_SIZE|LOCAL_RANK)$/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    NCCL_PROFILER_PLUGIN: plugin,
    NCCL_TRACE_DIR: folder,
    // A hang ends by killing all ranks, which would leave their rings in /dev/shm.
    NCCL_TRACE_RING_DIR: 'none',
    NCCL_TRACE_RUN_ID: 'demo',
    NCCL_TRACE_EVENTS: 'all',
    // Without it the recorder warns that KernelCh can harm a job under NCCL 2.30, for which the demo stands in.
    NCCL_ALLGATHERV_ENABLE: '0',
    NCCL_TRACE_RING_MB: '16',
  };
}

async function record(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupt: AbortSignal,
): Promise<void> {
  const code = await new Promise<number | null>((done, fail) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    interrupt.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
    child.on('error', fail);
    child.on('exit', done);
  });
  if (interrupt.aborted) throw interruptedBy(interrupt);
  if (code !== 0 && code !== HUNG_AS_ASKED) {
    throw new UsageError(`the demo's ranks ended with ${code ?? 'a signal'}; see their messages above`);
  }
}
