/** `metrics --otlp`: what a collector receives, decoded by the official messages, also from one that fails, stalls or is too busy. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { PROGRAM, runProgram } from '../support/program/program.js';
import { runHere } from '../support/program/command_line.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
  readonly asDouble?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bucketCounts?: readonly number[];
  readonly explicitBounds?: readonly number[];
}
interface Points {
  readonly dataPoints: readonly Point[];
  readonly isMonotonic?: boolean;
}
interface Request {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: Point['attributes'] };
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly gauge?: Points;
        readonly sum?: Points;
        readonly histogram?: Points;
      }[];
    }[];
  }[];
}

/** The package has no types for it. */
interface Messages {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly metrics: {
          readonly v1: {
            readonly ExportMetricsServiceRequest: MessageType;
            readonly ExportMetricsServiceResponse: Encoder;
          };
        };
      };
    };
  };
}
interface MessageType {
  readonly decode: (body: Buffer) => object;
  readonly toObject: (message: object, options: { readonly longs: typeof Number }) => Request;
}
interface Encoder {
  readonly encode: (message: object) => { readonly finish: () => Uint8Array };
}
const messages = createRequire(import.meta.url)('otlp-protos/build/src/generated/root.js') as Messages;
const TYPES = messages.opentelemetry.proto.collector.metrics.v1;
const TYPE = TYPES.ExportMetricsServiceRequest;
const decoded = (body: Buffer): Request => TYPE.toObject(TYPE.decode(body), { longs: Number });

let folder: string;
let remove: () => void;
let server: Server;
let child: ChildProcess | undefined;
let received: { readonly body: Buffer; readonly path: string; readonly headers: IncomingHttpHeaders; readonly at: number }[]; // prettier-ignore
/** What the server answers to the next requests; then 200. */
let answers: ((response: ServerResponse) => void)[];
let err = '';
beforeEach(async () => {
  ({ folder, remove } = temporaryFolder());
  [received, answers, err] = [[], [], ''];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      received.push({ body: Buffer.concat(parts), path, headers, at: Date.now() });
      const answer = answers.shift() ?? ((to) => to.writeHead(200).end());
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  child?.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
  remove();
});

function start(env: Readonly<Record<string, string>> = {}, run = projectFile('samples/straggler')): void {
  const { port } = server.address() as AddressInfo;
  const args = [run, '--run', '@2026-11-22T15:28:24', '--every', '1', '--otlp', `http://127.0.0.1:${port}`]; // prettier-ignore
  child = spawn(process.execPath, [PROGRAM, 'metrics', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  child.stderr!.on('data', (text: Buffer) => (err += text.toString()));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    if (child!.exitCode !== null) throw new Error(`it ended with ${child!.exitCode}: ${err}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const valuesOf = (attributes: Point['attributes']): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));

it('a collector receives every metric of the text, with the resource', async () => {
  start({ SLURM_JOB_ID: '4711', OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=worker-0' });
  const has = (name: string): boolean => received.some(({ body }) => body.includes(name));
  await until(() => has('nccl_trace_pair_fit_r2'));
  const { body, path: asked } = received.at(-1)!;
  expect(asked).toBe('/v1/metrics');
  const [one] = decoded(body).resourceMetrics;
  expect(valuesOf(one!.resource.attributes)).toMatchObject({
    'service.name': 'nccl-trace',
    'slurm.job.id': '4711',
    'k8s.pod.name': 'worker-0',
    'nccl_trace.ranks': '0-3',
  });
  const { metrics } = one!.scopeMetrics[0]!;
  const { out } = await runProgram(folder, 'metrics', projectFile('samples/straggler'), '--once');
  const text = out.toString();
  const typed = metrics.map(
    ({ name, sum, histogram }) => `${name} ${histogram ? 'histogram' : sum ? 'counter' : 'gauge'}`,
  );
  const own = ['nccl_trace_otlp_refused_points_total counter'];
  expect(typed.sort()).toEqual(
    [...own, ...[...text.matchAll(/^# TYPE (.*)$/gm)].map(([, type]) => type!)].sort(),
  );
  const busbw = metrics.find(({ name }) => name === 'nccl_trace_collective_busbw_bytes_per_second')!;
  expect(busbw.unit).toBe('By/s');
  for (const { attributes, count, sum, bucketCounts, explicitBounds } of busbw.histogram!.dataPoints) {
    const { size_class: size } = valuesOf(attributes);
    const of = (what: string): number =>
      Number(new RegExp(`^${busbw.name}_${what}\\{.*size_class="${size}"\\} (.*)$`, 'm').exec(text)![1]);
    expect([count, sum]).toEqual([of('count'), of('sum')]);
    expect(bucketCounts!.length).toBe(explicitBounds!.length + 1);
  }
  expect(metrics.find(({ name }) => name === 'nccl_trace_collectives_total')!.sum!.isMonotonic).toBe(true);
});

it('what is known of a process is not sent again once its file is gone', async () => {
  const run = path.join(folder, 'run');
  cpSync(projectFile('samples/straggler'), run, { recursive: true });
  start({}, run);
  const ranksIn = (body: Buffer): (string | undefined)[] =>
    decoded(body)
      .resourceMetrics[0]!.scopeMetrics[0]!.metrics.find(
        ({ name }) => name === 'nccl_trace_heartbeat_timestamp_seconds',
      )!
      .gauge!.dataPoints.map(({ attributes }) => valuesOf(attributes).rank);
  await until(() => received.length > 0);
  expect(ranksIn(received.at(-1)!.body)).toEqual(['0', '1', '2', '3']);
  rmSync(path.join(run, 'rank00003.bin'));
  await until(() => ranksIn(received.at(-1)!.body).length < 4);
  expect(ranksIn(received.at(-1)!.body)).toEqual(['0', '1', '2']);
});

it('one that is too busy is asked again when it said', async () => {
  answers = [(response) => response.writeHead(429, { 'retry-after': '2' }).end()];
  start();
  await until(() => received.length >= 2);
  expect(received[1]!.at - received[0]!.at).toBeGreaterThanOrEqual(1900);
  expect(received[1]!.body).toEqual(received[0]!.body);
});

const PARTIAL = TYPES.ExportMetricsServiceResponse;
const partial = (rejected: number, message: string): Buffer =>
  Buffer.from(
    PARTIAL.encode({ partialSuccess: { rejectedDataPoints: rejected, errorMessage: message } }).finish(),
  );
const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const LATE = { 'retry-after': '100' };

/** What a collector answers, and how it is quoted. */
const QUOTED: readonly (readonly [
  what: string,
  status: number,
  headers: Record<string, string>,
  body: Buffer | string,
  said: RegExp,
])[] = [
  ['rejects a part', 200, PROTOBUF, partial(3, 'no room'), /refuses 3 of \d+ points: no room$/],
  [
    'rejects a part, in JSON',
    200,
    { 'content-type': 'application/json' },
    '{"partialSuccess":{"rejectedDataPoints":"4","errorMessage":"full"}}',
    /refuses 4 of \d+ points: full$/,
  ],
  ['takes all with a warning', 200, PROTOBUF, partial(0, 'old names'), /:\d+ warns: old names$/],
  [
    'is a login page',
    200,
    { 'content-type': 'text/html' },
    '<html><script>x()</script><h1>Log in</h1>',
    /does not take the metrics: this is no collector: status 200, text\/html: Log in$/,
  ],
  [
    'sends what is no message',
    200,
    PROTOBUF,
    '\x0f\x0f',
    /this is no collector: status 200, application\/x-protobuf/,
  ],
  [
    'answers in text',
    400,
    { 'content-type': 'text/plain' },
    'bad\nname \x1b[31m',
    /does not take the metrics: status 400: bad name \?\[31m$/,
  ],
  ['answers with a Status', 400, PROTOBUF, Buffer.from('\x08\x03\x12\x07too old'), /: status 400: too old$/],
  [
    'is too busy for long',
    429,
    LATE,
    'quota of team a',
    /does not take the metrics: status 429: quota of team a$/,
  ],
  [
    'is elsewhere',
    307,
    { location: 'https://b.example/' },
    '',
    /: status 307, it is at https:\/\/b\.example\/$/,
  ],
];

it('one that refuses or warns is quoted, once, and what it refused is counted', async () => {
  start();
  let refused = 0;
  for (const [what, status, headers, body, said] of QUOTED) {
    const [before, from] = [received.length, err.length];
    answers = [1, 2].map(() => (response) => void response.writeHead(status, headers).end(body));
    await until(() => received.length > before + 2);
    const isWarning = what.includes('warning');
    await until(() => err.slice(from).includes(isWarning ? 'warns' : 'takes the metrics again; it refused'));
    const quotes = err
      .slice(from)
      .split('\n')
      .filter((line) => said.test(line));
    expect(quotes, `${what}: ${err.slice(from)}`).toHaveLength(1);
    if (isWarning) continue;
    const [, lost, pushes] = /it refused (\d+) points in (\d) pushes/.exec(err.slice(from))!;
    expect(pushes, what).toBe('2');
    const [, points] = /refuses (\d+)/.exec(quotes[0]!) ?? [];
    if (points !== undefined) expect(Number(lost), what).toBe(2 * Number(points));
    refused += Number(lost);
    await until(() => refusedIn(received.at(-1)!.body) === refused);
  }
});

const refusedIn = (body: Buffer): number | undefined =>
  decoded(body).resourceMetrics[0]!.scopeMetrics[0]!.metrics.find(({ name }) =>
    name.endsWith('refused_points_total'),
  )?.sum!.dataPoints[0]!.asDouble;

it('one that stalls or is not there stops nothing', async () => {
  answers = [(response) => void setTimeout(() => response.destroy(), 1500)];
  start();
  await until(() => received.length >= 3);
  expect(decoded(received.at(-1)!.body).resourceMetrics).toHaveLength(1);
  child!.kill('SIGTERM');
  expect((await once(child!, 'exit'))[0]).toBe(143);
});

it.each([[['--otlp', 'collector:4318']], [['--otlp', 'http://x', '--once']]])(
  '%j ends with 2',
  async (args) => {
    expect((await runHere(folder, 'metrics', '.', ...args)).code).toBe(2);
  },
);
