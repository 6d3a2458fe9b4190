/** `open`: who gets the trace and who does not, with real connections and, where there is one, a real browser. */

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { startupLink, startupQuery, withPins } from '../../src/trace/startup.js';
import { howCut, traceFacts } from '../../src/trace/trace_facts.js';
import { PortBusy, TraceServer } from '../../src/cli/trace_server.js';
import { runHere } from '../support/program/command_line.js';
import { PROGRAM } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const UI = 'https://ui.perfetto.dev';
/** Another program's trace: packets of a timestamp and a sequence. */
const PACKET = Buffer.from('0a0640e807508101', 'hex');
const CONTENT = Buffer.concat(Array.from({ length: 37_500 }, () => PACKET));
const SAMPLE = path.join(path.dirname(path.dirname(PROGRAM)), 'samples/hang');
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

      const second = await runHere(folder, 'open', trace);
      expect(second).toMatchObject({ code: 4 });
      expect(second.err).toMatch(/127\.0\.0\.1:9001: another program uses this port; end it/);

      expect((await ask(url, 'GET', { Origin: UI })).body.equals(CONTENT)).toBe(true);
      expect(await ended).toBe(0);
    } finally {
      child.kill();
    }
  });

  /** Ends of the gzip members or zstd frames before the last one, and places within both; of a plain trace, places. */
  const cuts = (bytes: Buffer): number[] => {
    const magic = bytes[0] === 0x0a ? null : bytes.subarray(0, 3);
    const between = magic === null ? [] : [bytes.lastIndexOf(magic), bytes.indexOf(magic, 1)];
    return [bytes.length - 1, bytes.length - 8, bytes.length >> 1, ...between];
  };

  it.each(['run.pftrace', 'run.pftrace.zst', 'run.pftrace.gz'])(
    'reads how %s begins, says that it was cut, wherever it was, and nothing of the whole one',
    async (name) => {
      const file = path.join(folder, name);
      const merged = await runHere(folder, 'merge', SAMPLE, '--ranks', '0,2', '--link', '-fo', name);
      const startup = traceFacts(file)?.get('nccl_trace.startup') ?? '';
      expect(merged.err).toContain(`\n${startupLink(UI, null, startup)}\n`);
      expect(startup).toMatch(/^visStart=\d+&visEnd=\d+&startupCommands=%5B/);
      const bytes = readFileSync(file);
      expect(howCut(file)).toBeNull();
      for (const cut of cuts(bytes)) {
        writeFileSync(file, bytes.subarray(0, cut));
        expect(howCut(file), `${cut} of ${bytes.length}`).toMatch(
          /^the end of this trace is missing: it was cut/,
        );
      }
      const { code, err } = await runHere(folder, 'open', name, '-q', '--timeout', '0.001');
      expect({ code, err }).toEqual({ code: 0, err: `nccl-trace: ${name}: ${howCut(file)}\n` });
    },
  );

  it('finds them in what another program packed', async () => {
    const file = path.join(folder, 'own.pftrace');
    await merge({ inputs: [SAMPLE], output: file, jobs: 1 });
    const facts = traceFacts(file);
    expect(facts?.get('nccl_trace.startup')).toMatch(/PinTracks/);
    const all = readFileSync(file);
    const packed = path.join(folder, 'own.pftrace.zst');
    for (const [as, bytes] of [
      ['as zstd packs what a pipe brings, without a size', zstdFrame(all)],
      [
        'as pzstd packs, with the size of each frame before it',
        Buffer.concat([
          SIZE_AHEAD,
          zstdFrame(all.subarray(0, 5000)),
          SIZE_AHEAD,
          zstdFrame(all.subarray(5000)),
        ]),
      ],
      [
        'as one frame that is larger than all that is read',
        zstdFrame(Buffer.concat([all, ...Array.from({ length: 20 }, () => CONTENT)])),
      ],
    ] as const) {
      writeFileSync(packed, bytes);
      expect(traceFacts(packed), as).toEqual(facts);
    }
    const { code, out } = await runHere(folder, 'open', packed, '-q', '--timeout', '0.001');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('PinTracks') as string });
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
    const { code, err } = await runHere(folder, 'open', trace, '--timeout', '0.001');
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringMatching(/not loaded within 0\.001 minutes/) as string,
    });
    expect(err).toMatch(/^serving a trace\.pftrace \(300 kB\) .*\n.*ssh -L 9001:127\.0\.0\.1:9001 /);
  });

  it.each([
    [['open', path.join(SAMPLE, 'rank00000.bin')], 3, /is a rank file, not a trace; first: nccl-trace merge/],
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
    const result = await runHere(folder, ...args);
    expect(result).toMatchObject({ code });
    expect(result.err).toMatch(sentence);
  });
});

describe.skipIf(!existsSync(CHROMIUM))('a browser', () => {
  let pages: Server;
  let pageOrigin: string;
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-sync',
      ],
    });
    pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(PAGE));
    await new Promise<void>((done) => pages.listen(0, '127.0.0.1', done));
    pageOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser.close();
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
      await server.close();
    }
  });

  it('reads the trace from the page that was named, and from no other', async () => {
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
  });
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
