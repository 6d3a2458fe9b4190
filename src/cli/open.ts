/** `nccl-trace open`: shows a trace in the Perfetto UI of the person's own browser. Nothing is uploaded. */

import { hostname, userInfo } from 'node:os';
import { basename } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { commandWith } from './help.js';
import { OutputError } from '../base/errors.js';
import { howCut, traceFacts } from '../trace/trace_facts.js';
import { amount } from './numbers.js';
import { checkServable } from './servable.js';
import { complain, print, say } from './streams.js';
import { knownQuery, PERFETTO, startupLink, withPins } from '../trace/startup.js';
import { printable, size } from '../report/text.js';
import { PortBusy, TraceServer } from './trace_server.js';
import { webOrigin } from './web_origin.js';

/** The UI's security policy lets it read from this local port only. */
const PORT = 9001;

interface Options {
  readonly origin: string;
  readonly timeout: number;
  readonly keep?: true;
  readonly pin?: readonly string[];
  readonly quiet?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace open trace.pftrace                              prints a link for ui.perfetto.dev
  $ nccl-trace open trace.pftrace --origin http://uihost:8080  a Perfetto UI of your own (air-gapped networks)
  $ nccl-trace open trace.pftrace --pin 'tx rate'              pins these tracks as well, on all ranks
`;

export function openCommand(): Command {
  return commandWith('open', EXAMPLES)
    .description('Serve one trace to the Perfetto UI in your browser.')
    .argument('<trace>', 'a trace written by "nccl-trace merge"')
    .option('--origin <url>', 'address of the Perfetto UI', webOrigin, PERFETTO)
    .option(
      '-t, --timeout <minutes>',
      'stop serving after this time',
      amount('a number of minutes', { above: 0, most: 24 * 60 }),
      15,
    )
    .option('-k, --keep', 'keep serving after the trace was loaded, until the timeout or Ctrl-C')
    .option('--pin <regex>', 'also pin tracks whose name matches; may be repeated', pattern)
    .option('-q, --quiet', 'print only the link')
    .action(run);
}

async function run(path: string, options: Options): Promise<void> {
  checkServable(path);
  const cut = howCut(path);
  if (cut !== null) complain(`${path}: ${cut}`);
  const server = await serve(path, options.origin);
  try {
    const end = firstOf(options, server);
    const startup = knownQuery(traceFacts(path)?.get('nccl_trace.startup') ?? '');
    const query = withPins(startup, options.pin ?? []);
    if (!options.quiet) say(invitation(path, server, options));
    await print(`${startupLink(options.origin, server.url, query)}\n`);
    const why = await end;
    if (!options.quiet) say(`${why}\n`);
  } finally {
    await server.close();
  }
}

async function serve(path: string, origin: string): Promise<TraceServer> {
  try {
    return await TraceServer.start({ path, origin, port: PORT });
  } catch (error) {
    if (!(error instanceof PortBusy)) throw error;
    throw new OutputError(
      `127.0.0.1:${PORT}`,
      'another program uses this port',
      'end it (another "nccl-trace open"?), because the Perfetto UI reads from this port only; trace_processor_shell shows the trace by itself, ' +
        'with "--httpd TRACE" and the UI open',
    );
  }
}

function invitation(path: string, { bytes }: TraceServer, { timeout, keep }: Options): string {
  const until = keep ? `for ${timeout} minutes` : `until it has been loaded, at most ${timeout} minutes`;
  return [
    `serving ${printable(basename(path))} (${size(bytes)}) on 127.0.0.1:${PORT} ${until}`,
    `from another machine, first: ssh -L ${PORT}:127.0.0.1:${PORT} ${user()}${hostname()}`,
    'then open this link in a browser:',
    '',
  ].join('\n');
}

/** In some containers the user id has no name. */
function user(): string {
  try {
    return `${userInfo().username}@`;
  } catch {
    return '';
  }
}

/** The sentence for the user about how serving the trace ended. */
async function firstOf({ timeout, keep }: Options, server: TraceServer): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      resolve(`not loaded within ${timeout} minutes, serving ended`);
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

function pattern(text: string, before: readonly string[] = []): string[] {
  try {
    new RegExp(text, 'u');
  } catch {
    throw new InvalidArgumentError('must be a regular expression.');
  }
  return [...before, text];
}
