/** `open`: who gets the trace and who does not, with real connections and, where there is one, a real browser. */

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { startupLink, startupQuery, withPins } from '../../src/trace/startup.js';
import { howCut, traceFacts } from '../../src/trace/trace_facts.js';
import { PortBusy, TraceServer } from '../../src/cli/trace_server.js';
import { PROGRAM, runProgram } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const UI = 'https://ui.perfetto.dev';
/** Another program's trace: packets of a timestamp and a sequence. */
const PACKET = Buffer.from('0a0640e807508101', 'hex');
const CONTENT = Buffer.concat(Array.from({ length: 37_500 }, () => PACKET));
const RANK_FILE = path.join(path.dirname(path.dirname(PROGRAM)), 'samples/hang/rank00000.bin');
const CHROMIUM = '/usr/bin/chromium';

let folder: string;
let trace: string;
eachInItsFolder((made) => {
  folder = made;
  trace = path.join(folder, 'a trace.pftrace');
  writeFileSync(trace, CONTENT);
});

/** RFC 8878: a window of 128 KiB, no size, and blocks as they are. */
function zstdFrame(content: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from('28b52ffd0038', 'hex')];
  for (let at = 0; at < content.length; at += 100_000) {
    const block = content.subarray(at, at + 100_000);
    const header = Buffer.alloc(3);
    header.writeUIntLE(block.length * 8 + (at + block.length === content.length ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}
/** RFC 8878, 3.1.2: a frame to be skipped, of four bytes. */
const SIZE_AHEAD = Buffer.from('502a4d180400000012340000', 'hex');

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function ask(url: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) });
      });
    })
      .on('error', reject)
      .end();
  });
}

describe('the server', () => {
  let server: TraceServer;
  beforeEach(async () => {
    server = await TraceServer.start({ path: trace, origin: UI, port: 0 });
  });
  afterEach(async () => {
    await server.close();
  });

  it('gives the file to the UI, byte for byte, and knows when it is done', async () => {
    const { status, headers, body } = await ask(server.url, 'GET', { Origin: UI });
    expect(status).toBe(200);
    expect(body.equals(CONTENT)).toBe(true);
    expect(headers).toMatchObject({
      'access-control-allow-origin': UI,
      'content-length': String(CONTENT.length),
      'cache-control': 'no-store',
      vary: 'Origin',
    });
    await server.delivered;
  });

  it('answers HEAD with the size, and the preflight request of a browser', async () => {
    expect(await ask(server.url, 'HEAD', { Origin: UI })).toMatchObject({
      status: 200,
      headers: { 'content-length': String(CONTENT.length) },
      body: Buffer.alloc(0),
    });
    const preflight = { Origin: UI, 'Access-Control-Request-Private-Network': 'true' };
    expect(await ask(server.url, 'OPTIONS', preflight)).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': UI, 'access-control-allow-private-network': 'true' },
    });
  });

  it.each<[string, number, (url: URL) => string, string, Record<string, string>]>([
    ['another origin', 403, String, 'GET', { Origin: 'https://evil.example' }],
    ['an origin that only begins alike', 403, String, 'GET', { Origin: `${UI}.evil.example` }],
    ['the null origin of a sandboxed page', 403, String, 'GET', { Origin: 'null' }],
    ['a name that was pointed at us', 403, String, 'GET', { Host: 'evil.example:9001' }],
    ['the root', 404, (url) => `${url.origin}/`, 'GET', { Origin: UI }],
    ['the file without the token', 404, (url) => `${url.origin}/a%20trace.pftrace`, 'GET', {}],
    [
      'a token of the right length',
      404,
      (url) => String(url).replace(/\/[^/]{22}\//, `/${'A'.repeat(22)}/`),
      'GET',
      {},
    ],
    ['another file beside it', 404, (url) => String(url).replace(/[^/]*$/, '..%2Fsecret'), 'GET', {}],
    ['a query', 404, (url) => `${String(url)}?x=1`, 'GET', {}],
    ['a method that writes', 405, String, 'PUT', { Origin: UI }],
  ])('refuses %s with %i', async (_, status, address, method, headers) => {
    const answer = await ask(address(new URL(server.url)), method, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toHaveLength(0);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('is on this machine only, and every run has its own path', async () => {
    const other = await TraceServer.start({ path: trace, origin: UI, port: 0 });
    expect(new URL(other.url).hostname).toBe('127.0.0.1');
    expect(new URL(other.url).pathname).not.toBe(new URL(server.url).pathname);
    await other.close();
  });

  it('breaks the connection rather than send half a file as a whole one', async () => {
    truncateSync(trace, 1000);
    await expect(ask(server.url, 'GET', { Origin: UI })).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });

  it('says that the port is taken', async () => {
    const port = Number(new URL(server.url).port);
    await expect(TraceServer.start({ path: trace, origin: UI, port })).rejects.toThrow(PortBusy);
  });
});

describe('the command', () => {
  it('prints the link and ends when the trace was loaded; a second one meanwhile reports the busy port', async () => {
    const child = execFile(process.execPath, [PROGRAM, 'open', trace]);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    try {
      const link = await firstLine(child.stdout!);
      expect(link).toMatch(/^https:\/\/ui\.perfetto\.dev\/#!\/\?url=http%3A%2F%2F127\.0\.0\.1%3A9001%2F/);
      const url = new URLSearchParams(new URL(link).hash.slice('#!/?'.length)).get('url')!;

      const second = await runProgram(folder, 'open', trace);
      expect(second).toMatchObject({ code: 4 });
      expect(second.err).toMatch(/127\.0\.0\.1:9001: another program uses this port; end it/);

      expect((await ask(url, 'GET', { Origin: UI })).body.equals(CONTENT)).toBe(true);
      expect(await ended).toBe(0);
    } finally {
      child.kill();
    }
  });

  it.each(['run.pftrace', 'run.pftrace.zst', 'run.pftrace.gz'])(
    'reads how the trace begins from %s',
    async (name) => {
      const sample = path.join(path.dirname(path.dirname(PROGRAM)), 'samples/straggler');
      const { err } = await runProgram(folder, 'merge', sample, '--link', '-fo', name);
      const startup = traceFacts(path.join(folder, name))?.get('nccl_trace.startup') ?? '';
      expect(err).toContain(`\n${startupLink(UI, null, startup)}\n`);
      expect(startup).toMatch(/^visStart=\d+&visEnd=\d+&startupCommands=%5B/);
    },
  );

  /** Ends of the gzip members or zstd frames before the last one, and places within both; of a plain trace, places. */
  const cuts = (bytes: Buffer): number[] => {
    const magic = bytes[0] === 0x0a ? null : bytes.subarray(0, 3);
    const between = magic === null ? [] : [bytes.lastIndexOf(magic), bytes.indexOf(magic, 1)];
    return [bytes.length - 1, bytes.length - 8, bytes.length >> 1, ...between];
  };

  it.each(['run.pftrace', 'run.pftrace.zst', 'run.pftrace.gz'])(
    'says of %s that it was cut, wherever it was, and nothing of the whole one',
    async (name) => {
      const sample = path.join(path.dirname(path.dirname(PROGRAM)), 'samples/hang');
      const file = path.join(folder, name);
      await runProgram(folder, 'merge', sample, '--ranks', '0,2', '-fqo', name);
      const bytes = readFileSync(file);
      expect(howCut(file)).toBeNull();
      for (const cut of cuts(bytes)) {
        writeFileSync(file, bytes.subarray(0, cut));
        expect(howCut(file), `${cut} of ${bytes.length}`).toMatch(
          /^the end of this trace is missing: it was cut/,
        );
      }
      const { code, err } = await runProgram(folder, 'open', name, '-q', '--timeout', '0.001');
      expect({ code, err }).toEqual({ code: 0, err: `nccl-trace: ${name}: ${howCut(file)}\n` });
    },
  );

  it.each([
    ['as zstd packs what a pipe brings, without a size', (all: Buffer) => zstdFrame(all)],
    [
      'as pzstd packs, with the size of each frame before it',
      (all: Buffer) =>
        Buffer.concat([
          SIZE_AHEAD,
          zstdFrame(all.subarray(0, 5000)),
          SIZE_AHEAD,
          zstdFrame(all.subarray(5000)),
        ]),
    ],
    [
      'as one frame that is larger than all that is read',
      (all: Buffer) => zstdFrame(Buffer.concat([all, ...Array.from({ length: 20 }, () => CONTENT)])),
    ],
  ])('finds them in what another program packed: %s', async (_, pack) => {
    const file = path.join(folder, 'own.pftrace');
    await merge({ inputs: [path.dirname(RANK_FILE)], output: file, jobs: 1 });
    const facts = traceFacts(file);
    expect(facts?.get('nccl_trace.startup')).toMatch(/PinTracks/);
    const packed = path.join(folder, 'own.pftrace.zst');
    writeFileSync(packed, pack(readFileSync(file)));
    expect(traceFacts(packed)).toEqual(facts);
    const { code, out } = await runProgram(folder, 'open', packed, '-q', '--timeout', '0.001');
    expect({ code, link: out.toString() }).toMatchObject({
      code: 0,
      link: expect.stringContaining('PinTracks') as string,
    });
  });

  it('puts them and the patterns of --pin into the link, and none of them for a trace that is not ours', async () => {
    const child = execFile(process.execPath, [PROGRAM, 'open', trace, '--pin', 'tx (rate|bytes)', '-q']);
    try {
      const link = await firstLine(child.stdout!);
      expect(link).toMatch(/^[\w%:/.#!?&=-]+$/);
      const query = new URLSearchParams(new URL(link).hash.slice('#!/?'.length));
      expect(JSON.parse(query.get('startupCommands')!)).toEqual([
        { id: 'dev.perfetto.PinTracksByRegex', args: ['tx (rate|bytes)', 'name'] },
      ]);
    } finally {
      const ended = new Promise((resolve) => child.on('exit', resolve));
      child.kill('SIGINT');
      expect(await ended).toBe(0);
    }
  });

  it('gives up after its time', async () => {
    const { code, err } = await runProgram(folder, 'open', trace, '--timeout', '0.001');
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringMatching(/not loaded within 0\.001 minutes/) as string,
    });
    expect(err).toMatch(/^serving a trace\.pftrace \(300 kB\) .*\n.*ssh -L 9001:127\.0\.0\.1:9001 /);
  });

  it.each([
    [['open', RANK_FILE], 3, /is a rank file, not a trace; first: nccl-trace merge/],
    [['open', 'a trace.pftrace', '--pin', '('], 2, /must be a regular expression/],
    [['open', 'nothing.pftrace'], 3, /nothing\.pftrace: no such file; name a trace/],
    [['open', '/etc/passwd'], 3, /\/etc\/passwd: is not a Perfetto trace, or is damaged; name a trace/],
    [['open', '/dev/null'], 3, /\/dev\/null: is not a file/],
    [['open', PROGRAM], 3, /is not a Perfetto trace/],
    [['open', 'empty'], 3, /is not a Perfetto trace/],
    [['open', 'newline.txt'], 3, /is not a Perfetto trace/],
    [['open', 'text.gz'], 3, /is not a Perfetto trace/],
    [['open', 'damaged.pftrace.zst'], 3, /is not a Perfetto trace, or is damaged/],
    [['open', 'pipe'], 3, /is not a file/],
    [['open', 'summary'], 3, /is a summary, not a trace/],
    [['open', '.'], 3, /is not a file/],
    [['open', 'a trace.pftrace', '--origin', 'ui.perfetto.dev'], 2, /must be a URL/],
    [['open', 'a trace.pftrace', '--origin', 'http://host/ui/'], 2, /at the root of its server/],
    [['open', 'a trace.pftrace', '--timeout', '0'], 2, /number of minutes/],
  ])('%j is one clear sentence', async (args, code, sentence) => {
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    for (const [name, content] of [
      ['empty', ''],
      [
        'newline.txt',
        '\nThis begins as a packet of 84 bytes would, which text may do by chance.\nAnd here it ends.\n\n',
      ],
      ['text.gz', gzipSync('no trace')],
      ['damaged.pftrace.zst', zstdFrame(CONTENT).fill(0xff, 9)],
      ['summary', '{\n  "version": 3,\n  "verdict": {\n    "kind": "healthy"'],
    ] as const)
      writeFileSync(path.join(folder, name), content);
    const result = await runProgram(folder, ...args);
    expect(result).toMatchObject({ code });
    expect(result.err).toMatch(sentence);
  });
});

describe.skipIf(!existsSync(CHROMIUM))('a browser', () => {
  let pages: Server;
  let pageOrigin: string;
  beforeEach(async () => {
    pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(PAGE));
    await new Promise<void>((done) => pages.listen(0, '127.0.0.1', done));
    pageOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    pages.close();
    pages.closeAllConnections();
  });

  it('follows the link: loads the trace and pins tracks', async () => {
    const server = await TraceServer.start({ path: trace, origin: pageOrigin, port: 0 });
    const screen = {
      pins: [['Cluster: SLOW', 'world (4 ranks)']],
      expand: ['rank 0003'],
      view: null,
      note: null,
    };
    const query = withPins(startupQuery(screen), ['tx (rate|bytes)']);
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(startupLink(pageOrigin, server.url, query));
      await page.waitForFunction('window.loaded');
      expect(await page.evaluate('window.loaded')).toEqual({
        size: CONTENT.length,
        commands: [
          { id: 'dev.perfetto.ExpandTracksByRegex', args: ['^(rank 0003)\\b[^>]*(> NCCL)?$', 'path'] },
          { id: 'dev.perfetto.PinTracksByRegex', args: ['Cluster.*> world \\(4 ranks\\)$', 'path'] },
          {
            id: 'dev.perfetto.RunQueryAndShowTab',
            args: [
              "SELECT string_value AS report FROM args WHERE key GLOB 'debug.line*' ORDER BY key",
              'Report',
            ],
          },
          { id: 'dev.perfetto.PinTracksByRegex', args: ['tx (rate|bytes)', 'name'] },
        ],
      });
      await server.delivered;
    } finally {
      await browser.close();
      await server.close();
    }
  });

  it('reads the trace from the page that was named, and from no other', async () => {
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(pageOrigin);
      for (const [origin, expected] of [
        [pageOrigin, CONTENT.length],
        [UI, 'TypeError'],
      ] as const) {
        const server = await TraceServer.start({ path: trace, origin, port: 0 });
        // As the UI does: fetch(url), then the body as a blob.
        const got = await page.evaluate(
          (url) =>
            fetch(url)
              .then((r) => r.blob())
              .then(
                (b) => b.size,
                (e: unknown) => (e as Error).name,
              ),
          server.url,
        );
        expect(got).toBe(expected);
        await server.close();
      }
    } finally {
      await browser.close();
    }
  });
});

const launch = () =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-sync',
    ],
  });

/** Reads its own address as the UI does. */
const PAGE = `<script>
  const query = new URLSearchParams(location.hash.slice('#!/?'.length));
  if (query.has('url'))
    fetch(query.get('url')).then((r) => r.blob()).then((b) => {
      window.loaded = { size: b.size, commands: JSON.parse(query.get('startupCommands')) };
    });
</script>`;

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('it printed nothing');
}
