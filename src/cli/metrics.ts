/** `nccl-trace metrics`: how far each rank of a running job is, and the verdict, as metrics for Prometheus. It runs beside the job and only reads. */

import { closeSync, openSync, readSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { InvalidArgumentError, type Command } from 'commander';
import { Interrupted, NoUsableInput, OutputError, UsageError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { Follower, NO_SIGHT, type Sight } from '../live/follow.js';
import { metricsOf, metricsText, OPEN_METRICS, PROMETHEUS, type LiveState } from '../live/metrics.js';
import type { OtlpPush } from '../live/otlp.js';
import { watch, type Look } from '../live/watch.js';
import { WorkTotals } from '../live/work.js';
import { checkOutput, type Output } from '../output/allowed.js';
import { deliver, withWorkFolderFor } from '../output/deliver.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { lookProcess } from './look_process.js';
import { print } from './output.js';
import { addRunOption, LIST, runList } from './run_option.js';
import { complain } from './streams.js';
import { addVerdictOptions } from './verdict_options.js';
import { EVERY } from './watch.js';

interface Options {
  readonly listen?: Address;
  readonly once?: true;
  readonly textfile?: string;
  readonly otlp?: URL;
  readonly run?: string;
  readonly hungAfter?: number;
  readonly every: number;
  readonly quiet?: true;
}

interface Address {
  readonly host: string;
  readonly port: number;
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

/** "http://collector:4318" */
function collector(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('must be an address such as http://collector:4318.');
  return url;
}

async function run(folder: string, options: Options): Promise<ExitCode> {
  if (options.run === LIST) {
    await print(runList([folder], {}));
    return ExitCode.ok;
  }
  if (
    [options.listen, options.textfile, options.otlp, options.once].filter((one) => one !== undefined).length >
    1
  )
    throw new UsageError('name one of --listen, --textfile, --otlp and --once');
  if (options.textfile !== undefined) checkOutput(textfileAt(options.textfile), PERMISSION);
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
  await print(await metricsText(metricsOf(state), PROMETHEUS));
}

async function keepOn(
  folder: string,
  options: Options,
  note: (text: string) => void,
  interrupt: AbortSignal,
): Promise<void> {
  const state = new State();
  const { textfile, otlp } = options;
  let said = '';
  const noteOnce = (text: string): void => {
    if (text !== said) note(text);
    said = text;
  };
  const server =
    textfile === undefined && otlp === undefined
      ? await listen(options.listen ?? DEFAULT_ADDRESS, state, note)
      : null;
  const push = otlp === undefined ? null : await pushTo(otlp, noteOnce);
  try {
    await watch({
      folder,
      ...{ run: options.run, every: options.every * 1000, hungAfter: options.hungAfter, linger: Infinity },
      look: (wanted) => {
        const { counted } = state.work;
        return lookProcess({ ...wanted, hungAfter: options.hungAfter, counted }, interrupt);
      },
      onSight: (sight) => {
        state.see(sight);
        if (textfile !== undefined) void writeTextfile(textfile, state, noteOnce);
        push?.push(state);
      },
      onLook: (look) => {
        state.take(look);
      },
      onChange: () => Promise.resolve(),
      ...{ actOn: [], onIncident: () => undefined, onNote: note, interrupt },
    });
  } finally {
    server?.close();
    server?.closeAllConnections();
    void push?.close();
  }
}

/** The packages of OpenTelemetry are loaded only if they are asked for. */
async function pushTo(url: URL, note: (text: string) => void): Promise<OtlpPush> {
  let hasFailed = false;
  const { OtlpPush } = await import('../live/otlp.js');
  return new OtlpPush(url, process.env, (failure) => {
    if (failure !== null) note(`${url.host} does not take the metrics: ${failure}`);
    else if (hasFailed) note(`${url.host} takes the metrics again`);
    hasFailed = failure !== null;
  });
}

class State implements LiveState {
  sight = NO_SIGHT;
  look: LiveState['look'] = null;
  looks = { count: 0, cpuSeconds: 0 };
  work = new WorkTotals();

  see(sight: Sight): void {
    if (sight.run !== this.sight.run) {
      this.look = null;
      this.work = new WorkTotals();
    }
    this.sight = sight;
  }

  take({ found, progress, work, cpu }: Look): void {
    const { count, cpuSeconds } = this.looks;
    this.looks = { count: count + 1, cpuSeconds: cpuSeconds + cpu / 1000 };
    if (typeof found !== 'string') this.look = { found, progress, at: Date.now() / 1000 };
    if (work !== null) this.work.take(work);
  }

  wall = (ms: number): number => (Date.now() - performance.now() + ms) / 1000;
}

function listen({ host, port }: Address, state: State, note: (text: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end('metrics are at /metrics\n');
      return;
    }
    const isOpen = request.headers.accept?.includes('application/openmetrics-text') === true;
    const type = isOpen ? OPEN_METRICS : PROMETHEUS;
    metricsText(metricsOf(state), type).then(
      (text) => response.writeHead(200, { 'content-type': type }).end(text),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  });
  return new Promise((done, fail) => {
    server.once('error', (error) => {
      const what = codeOf(error) === 'EADDRINUSE' ? 'is in use' : `cannot be opened: ${reason(error)}`;
      fail(new OutputError(`${host}:${port}`, what, 'name another address with --listen', { cause: error }));
    });
    server.listen(port, host === '' ? undefined : host, () => {
      const at = server.address();
      const shown = typeof at === 'object' && at !== null ? at.port : port;
      note(
        `metrics: http://${host === '' ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host}:${shown}/metrics`,
      );
      done(server);
    });
  });
}

const textfileAt = (path: string): Output => ({
  path,
  kind: { name: 'metrics', option: '--textfile nccl_trace.prom', wrote: isTextfile },
});

const TEXT_START = '# HELP nccl_trace_';

function isTextfile(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(TEXT_START.length);
    return start.toString('latin1', 0, readSync(file, start, 0, start.length, 0)) === TEXT_START;
  } finally {
    closeSync(file);
  }
}

/** Metrics of the window before are replaced, and nothing else. */
const PERMISSION = { force: true, inputs: [] } as const;

/** Written whole or not at all: node_exporter may read at any time. A full disk may have room later. */
async function writeTextfile(path: string, state: State, note: (text: string) => void): Promise<void> {
  try {
    const text = await metricsText(metricsOf(state), PROMETHEUS);
    const output = textfileAt(path);
    const place = checkOutput(output, PERMISSION);
    await withWorkFolderFor(place, undefined, (folder) =>
      deliver({ output, place, permission: PERMISSION }, folder, Readable.from([Buffer.from(text)])),
    );
  } catch (error) {
    note(error instanceof OutputError ? error.message : `${path}: ${reason(error)}`);
  }
}
