/**
 * Serves one file to one web page while `nccl-trace open` runs. The page is the Perfetto UI in the user's browser. Everyone else on
 * the machine or on the web is kept out:
 *
 *   who can connect   processes on this host (127.0.0.1), or at the other end of an ssh tunnel
 *   who gets bytes    whoever knows the path, which holds 128 random bits
 *   which page may    the one origin that was named; browsers enforce it, and we refuse others ourselves
 *   under which name  127.0.0.1 or localhost: a web page that points its own name at us (DNS rebinding) is refused
 *
 * Only GET and HEAD of that path are answered. The size is the one the file had when the server started.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { NoUsableInput } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { hostIn } from './asked_host.js';

const LISTENS_AS: readonly string[] = ['127.0.0.1', 'localhost'];

/** A request that sends nothing is cut off after this long, in ms. */
const IDLE_MS = 30_000;

export interface TraceServerOptions {
  readonly path: string;
  /** The only web origin that may read the file: "https://ui.perfetto.dev". */
  readonly origin: string;
  /** 0: any free port. */
  readonly port: number;
}

export class TraceServer {
  private constructor(
    /** Where the file is: http://127.0.0.1:PORT/TOKEN/NAME */
    readonly url: string,
    readonly bytes: number,
    /** Resolves when the file has been sent completely for the first time. */
    readonly delivered: Promise<void>,
    private readonly server: Server,
    private readonly file: FileHandle,
  ) {}

  /** Throws NoUsableInput (no such file), PortBusy. */
  static async start({ path, origin, port }: TraceServerOptions): Promise<TraceServer> {
    const file = await openFile(path);
    const { size } = await file.stat();
    const trace = { file, bytes: size, name: basename(path), token: randomBytes(16).toString('base64url') };
    let onDelivered: () => void = () => undefined;
    const delivered = new Promise<void>((resolve) => (onDelivered = resolve));
    const server = createServer((request, response) => {
      void answer(request, response, trace, origin).then((complete) => {
        if (complete) onDelivered();
      });
    });
    server.requestTimeout = server.headersTimeout = IDLE_MS;
    try {
      await listen(server, port);
    } catch (error) {
      await file.close();
      throw error;
    }
    const { port: bound } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${bound}/${trace.token}/${encodeURIComponent(trace.name)}`;
    return new TraceServer(url, size, delivered, server, file);
  }

  /** Also closes open connections. */
  async close(): Promise<void> {
    await new Promise((done) => {
      this.server.close(done);
      this.server.closeAllConnections();
    });
    await this.file.close();
  }
}

/** Another program uses the port. */
export class PortBusy extends Error {
  override readonly name = 'PortBusy';
}

interface ServedTrace {
  readonly file: FileHandle;
  readonly bytes: number;
  readonly name: string;
  readonly token: string;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    throw new NoUsableInput(`${path}: ${reason(error)}; name a trace written by "nccl-trace merge"`, {
      cause: error,
    });
  }
  throw new NoUsableInput(`${path}: is not a file; name a trace written by "nccl-trace merge"`);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortBusy(`port ${port} is in use`) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** True when the whole file was sent. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  trace: ServedTrace,
  origin: string,
): Promise<boolean> {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Vary', 'Origin');
  const refused = refusal(request, trace, origin);
  if (refused !== null) {
    response
      .writeHead(refused, { 'Content-Length': 0, ...(refused === 405 && { Allow: 'GET, HEAD' }) })
      .end();
    return false;
  }
  response.setHeader('Access-Control-Allow-Origin', origin);
  if (request.method === 'OPTIONS') {
    // Chromium sends this request before a public page may read from the local machine.
    response
      .writeHead(204, {
        'Access-Control-Allow-Methods': 'GET, HEAD',
        'Access-Control-Allow-Private-Network': 'true',
        'Access-Control-Max-Age': 600,
      })
      .end();
    return false;
  }
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': trace.bytes });
  if (request.method === 'HEAD') {
    response.end();
    return false;
  }
  return send(trace, response);
}

/** The status of a refusal, or null. The path is checked first: without it a client learns nothing else. */
function refusal(request: IncomingMessage, trace: ServedTrace, origin: string): number | null {
  if (!LISTENS_AS.includes(hostIn(request.headers.host) ?? '')) return 403;
  const [, token = '', ...rest] = (request.url ?? '').split('/');
  if (!equal(token, trace.token) || rest.join('/') !== encodeURIComponent(trace.name)) return 404;
  if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '')) return 405;
  // A request without Origin comes from no web page (curl, wget), and it knows the path.
  return request.headers.origin === undefined || request.headers.origin === origin ? null : 403;
}

/** In constant time for tokens of this length. */
function equal(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function send({ file, bytes }: ServedTrace, response: ServerResponse): Promise<boolean> {
  if (bytes === 0) {
    response.end();
    return true;
  }
  try {
    await pipeline(file.createReadStream({ start: 0, end: bytes - 1, autoClose: false }), response);
    return true;
  } catch {
    return false; // the page went away, or the file was cut: the connection is gone, and the next request may do better
  }
}
