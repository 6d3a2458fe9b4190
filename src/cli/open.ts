/** `nccl-trace open`: shows a trace in the Perfetto UI of the person's own browser. Nothing is uploaded. */

import { hostname, userInfo } from 'node:os';
import { basename } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { OutputError, UsageError } from '../base/errors.js';
import { PortBusy, TraceServer } from './trace_server.js';

/** The UI's own security policy lets it read from here, and from nowhere else on the person's machine. */
const PORT = 9001;
const PERFETTO = 'https://ui.perfetto.dev';

interface Options {
  readonly origin: string;
  readonly timeout: number;
  readonly keep?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace open trace.pftrace                              prints a link for ui.perfetto.dev
  $ nccl-trace open trace.pftrace --origin http://uihost:8080  a Perfetto UI of your own (air-gapped networks)
`;

export function openCommand(): Command {
  return new Command('open')
    .description('Serve one trace to the Perfetto UI in your browser, until it has been loaded.')
    .argument('<trace>', 'what "nccl-trace merge" has written')
    .option('--origin <url>', 'where the Perfetto UI is', webOrigin, PERFETTO)
    .option('-t, --timeout <minutes>', 'give up after so long', minutes, 15)
    .option('-k, --keep', 'go on serving after the trace was loaded, until the timeout or Ctrl-C')
    .addHelpText('beforeAll', EXAMPLES)
    .action(run);
}

async function run(path: string, options: Options): Promise<void> {
  const server = await serve(path, options.origin);
  process.stderr.write(invitation(path, server, options));
  process.stdout.write(`${link(options.origin, server.url)}\n`);
  const why = await firstOf(options, server);
  await server.close();
  process.stderr.write(`${why}\n`);
}

async function serve(path: string, origin: string): Promise<TraceServer> {
  try {
    return await TraceServer.start({ path, origin, port: PORT });
  } catch (error) {
    if (!(error instanceof PortBusy)) throw error;
    throw new OutputError(
      `127.0.0.1:${PORT}`,
      'another program listens there',
      'end it (another "nccl-trace open"? trace_processor?): the Perfetto UI reads from no other port',
    );
  }
}

const link = (origin: string, url: string): string =>
  `${origin}/#!/?url=${encodeURIComponent(url)}&referrer=nccl-trace`;

function invitation(path: string, { bytes }: TraceServer, { timeout, keep }: Options): string {
  const until = keep ? `for ${timeout} minutes` : `until it has been loaded, at most ${timeout} minutes`;
  return [
    `serving ${basename(path)} (${(bytes / 1e6).toFixed(1)} MB) on 127.0.0.1:${PORT} ${until}`,
    `from another machine, first: ssh -L ${PORT}:127.0.0.1:${PORT} ${user()}${hostname()}`,
    'then open this link in a browser:',
    '',
  ].join('\n');
}

/** Some containers run under a number without a name. */
function user(): string {
  try {
    return `${userInfo().username}@`;
  } catch {
    return '';
  }
}

/** The sentence that says how it ended. */
async function firstOf({ timeout, keep }: Options, server: TraceServer): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      resolve(`${timeout} minutes are over, serving ended`);
    }, timeout * 60_000);
  });
  const asked = new Promise<string>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve('stopped');
      });
    }
  });
  const loaded = server.delivered.then(() => 'the trace was loaded, serving ended');
  const why = await Promise.race(keep ? [late, asked] : [late, asked, loaded]);
  clearTimeout(timer);
  return why;
}

/** Exactly what a browser sends as Origin: scheme, host and port. */
function webOrigin(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidArgumentError('must be a URL such as https://perfetto.example.org.');
  }
  if (!['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('must begin with http:// or https://.');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--origin ${text}: the UI has to lie at the root of its server; try ${url.origin}`);
  }
  return url.origin;
}

function minutes(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 24 * 60))
    throw new InvalidArgumentError('must be a number of minutes, up to 1440.');
  return value;
}
