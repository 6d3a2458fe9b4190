/** `nccl-trace metrics`: how far each rank of a running job is, and the verdict, as metrics for Prometheus. It runs beside the job and only reads. */

import { isIP } from 'node:net';
import { InvalidArgumentError, type Command } from 'commander';
import { Interrupted, NoUsableInput, OutputError, UsageError } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { Follower, type Sight } from '../live/follow.js';
import { metricsOf, metricsText, OPEN_METRICS, PROMETHEUS, type LiveState } from '../live/metrics.js';
import type { OtlpPush } from '../live/otlp.js';
import { SeenJob } from '../live/seen_job.js';
import type { Look } from '../live/watch.js';
import { hostIn } from './asked_host.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { followJob, lookProcess } from './look_process.js';
import { MetricsServer, type Address, type Text } from './metrics_server.js';
import { checkTextfile, removeTextfile, writeTextfile } from './metrics_textfile.js';
import { addRunOption, listsRuns } from './run_option.js';
import { complain, print } from './streams.js';
import { addVerdictOptions } from './verdict_options.js';
import { EVERY } from './watch.js';

interface Options {
  readonly listen?: Address;
  readonly allowHost?: readonly string[];
  readonly once?: true;
  readonly textfile?: string;
  readonly otlp?: URL;
  readonly run?: string;
  readonly hungAfter?: number;
  readonly every: number;
  readonly quiet?: true;
}

const DEFAULT_ADDRESS: Address = { host: '127.0.0.1', port: 9477 };

const EXAMPLES = `Examples, beside the job, on each of its nodes:
  $ nccl-trace metrics nccl-trace/                     for Prometheus, at http://127.0.0.1:9477/metrics
  $ nccl-trace metrics nccl-trace/ --textfile /var/lib/node_exporter/nccl_trace.prom
  $ nccl-trace metrics nccl-trace/ --otlp http://collector:4318
  $ nccl-trace metrics nccl-trace/ --once              print them, and end
`;

export function metricsCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('metrics', EXAMPLES)
    .description('Metrics of a running job for Prometheus.')
    .argument('<dir>', 'the NCCL_TRACE_DIR of the job, or of one run')
    .option('--listen <address>', 'where Prometheus finds them (default: 127.0.0.1:9477)', address)
    .option('--allow-host <name>', 'also answer to this name; may be repeated', hostName)
    .option('--textfile <file>', 'write them here instead, for node_exporter (.prom)')
    .option('--otlp <url>', 'push them to an OpenTelemetry collector instead', collector)
    .option('--once', 'print them, and end')
    .option(...EVERY)
    .option('-q, --quiet', 'print errors only');
  return addVerdictOptions(addRunOption(command)).action(async (folder: string, options: Options) => {
    setExit(await run(folder, options));
  });
}

/** "127.0.0.1:9477", "[::1]:9477", ":9477" for all addresses. */
function address(text: string): Address {
  const [, six, other = '', digits] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (six !== undefined && isIP(six) !== 6))
    throw new InvalidArgumentError('must be an address with a port, such as 127.0.0.1:9477.');
  return { host: six ?? other, port };
}

function hostName(text: string, before: readonly string[] = []): string[] {
  const host = hostIn(text);
  if (host === null) throw new InvalidArgumentError('must be a name such as node1.example.org.');
  return [...before, host];
}

/** "http://collector:4318" */
function collector(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('must be an address such as http://collector:4318.');
  return url;
}

async function run(folder: string, options: Options): Promise<ExitCode> {
  if (await listsRuns([folder], options)) return ExitCode.ok;
  const { listen, textfile, otlp, once } = options;
  if ([listen, textfile, otlp, once].filter((one) => one !== undefined).length > 1)
    throw new UsageError('name one of --listen, --textfile, --otlp and --once');
  if (options.allowHost !== undefined && (textfile ?? otlp ?? once) !== undefined)
    throw new UsageError('--allow-host is for those who ask: not with --textfile, --otlp or --once');
  if (textfile !== undefined) checkTextfile(textfile);
  const note = options.quiet === true ? (): void => undefined : complain;
  try {
    await interruptible((interrupt) =>
      options.once === true
        ? printOnce(folder, options, interrupt)
        : keepOn(folder, options, note, interrupt),
    );
    return ExitCode.ok;
  } catch (error) {
    // It has no other end.
    if (error instanceof Interrupted) return exitCodeOf(error);
    throw error;
  }
}

async function printOnce(folder: string, options: Options, interrupt: AbortSignal): Promise<void> {
  const state = new State();
  state.see(new Follower(folder, options.run).look(performance.now()));
  const files = state.sight.members.map(({ path }) => path);
  if (files.length === 0)
    throw new NoUsableInput(`${folder}: no rank files (rank*.bin) here or one level below`);
  const look = await lookProcess({ files, hungAfter: options.hungAfter, counted: [] }, interrupt);
  if (typeof look.found === 'string') throw new NoUsableInput(look.found);
  state.take(look);
  await print(String((await state.text(false)).bytes));
}

async function keepOn(
  folder: string,
  options: Options,
  note: (text: string) => void,
  interrupt: AbortSignal,
): Promise<void> {
  const { textfile, otlp } = options;
  let said = '';
  const noteOnce = (text: string): void => {
    if (text !== said) note(text);
    said = text;
  };
  const state = new State((now) => {
    if (textfile !== undefined) void refresh(textfile, now, noteOnce, interrupt);
    push?.push(now);
  });
  const { listen: at = DEFAULT_ADDRESS, allowHost: allowed = [] } = options;
  const server =
    textfile === undefined && otlp === undefined
      ? await MetricsServer.start({ at, allowed, text: (isOpen) => state.text(isOpen) })
      : null;
  if (server !== null) note(`metrics: ${server.url}`);
  const push = otlp === undefined ? null : await pushTo(otlp, noteOnce);
  try {
    await followJob(folder, options, state, note, interrupt);
  } finally {
    server?.close();
    void push?.close();
    if (textfile !== undefined) remove(textfile, noteOnce);
  }
}

/** The packages of OpenTelemetry are loaded only if they are asked for. */
async function pushTo(url: URL, note: (text: string) => void): Promise<OtlpPush> {
  const { OtlpPush } = await import('../live/otlp.js');
  let standing = '';
  let [pushes, lost] = [0, 0];
  return new OtlpPush(url, process.env, (refusal, points) => {
    if (refusal === null) {
      if (pushes > 0)
        note(`${url.host} takes the metrics again; it refused ${lost} points in ${pushes} pushes`);
      [standing, pushes, lost] = ['', 0, 0];
      return;
    }
    const { points: refused, why } = refusal;
    if (refused !== 0) [pushes, lost] = [pushes + 1, lost + (refused ?? points)];
    const what = refused === null ? 'does not take the metrics' : `refuses ${refused} of ${points} points`;
    if (why !== standing) note(`${url.host} ${refused === 0 ? 'warns' : what}: ${why}`);
    standing = why;
  });
}

class State extends SeenJob implements LiveState {
  /** Rendered once for all who ask, until something changes. */
  private readonly texts = new Map<string, Promise<Text>>();

  constructor(private readonly onSight: (state: State) => void = () => undefined) {
    super();
  }

  override see(sight: Sight): void {
    this.texts.clear();
    super.see(sight);
    this.onSight(this);
  }

  override take(look: Look): void {
    this.texts.clear();
    super.take(look);
  }

  text(isOpenMetrics: boolean): Promise<Text> {
    const type = isOpenMetrics ? OPEN_METRICS : PROMETHEUS;
    const text =
      this.texts.get(type) ??
      metricsText(metricsOf(this), type).then((made) => ({ type, bytes: Buffer.from(made) }));
    this.texts.set(type, text);
    return text;
  }

  wall = (ms: number): number => (Date.now() - performance.now() + ms) / 1000;
}

function remove(path: string, note: (text: string) => void): void {
  try {
    removeTextfile(path);
  } catch (error) {
    note(`${path}: stays, and node_exporter goes on showing it: ${reason(error)}`);
  }
}

/** A full disk may have room later. */
async function refresh(
  path: string,
  state: State,
  note: (text: string) => void,
  interrupt: AbortSignal,
): Promise<void> {
  try {
    await writeTextfile(path, (await state.text(false)).bytes);
    // The command ended meanwhile.
    if (interrupt.aborted) removeTextfile(path);
  } catch (error) {
    note(error instanceof OutputError ? error.message : `${path}: ${reason(error)}`);
  }
}
