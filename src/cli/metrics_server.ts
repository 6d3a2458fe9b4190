/**
 * Serves the metrics while `nccl-trace metrics` runs. Whoever reaches the port may ask, so:
 *
 *   under which name   the address that was asked, loopback names, and those of --allow-host (asked_host.ts)
 *   how much it costs  one rendered text for all, and a new one only when something changed
 *   how many may wait  MOST connections. A new one takes the place of the one that was answered longest ago
 *   for how long       whoever has not read the answer in time is cut off
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo, type Socket } from 'node:net';
import { OutputError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { hostIn, LOOPBACK_NAMES } from './asked_host.js';

export interface Address {
  /** '': all addresses. */
  readonly host: string;
  readonly port: number;
}

export interface Text {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface MetricsServerOptions {
  readonly at: Address;
  /** Further names by which it may be asked. */
  readonly allowed: readonly string[];
  /** In the format that is asked for. */
  readonly text: (isOpenMetrics: boolean) => Promise<Text>;
}

/** Connections: several Prometheus servers, and people who look. */
const MOST = 16;
/** ms: a scrape ends after 10 s unless somebody configured it otherwise. */
const READ_WITHIN = 30_000;

export class MetricsServer {
  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {}

  /** Throws OutputError: the address is in use, or not of this machine. */
  static async start(options: MetricsServerOptions): Promise<MetricsServer> {
    const { host } = options.at;
    const server = createServer();
    const keepNewest = newestOnly();
    server.requestTimeout = server.headersTimeout = READ_WITHIN;
    server.on('connection', keepNewest);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      cutSlow(response, request.socket);
      response.once('finish', () => {
        keepNewest(request.socket);
      });
      void answer(request, response, options);
    });
    await listen(server, options.at);
    const { port } = server.address() as AddressInfo;
    const shown = host === '' ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host;
    return new MetricsServer(`http://${shown}:${port}/metrics`, server);
  }

  /** Also closes open connections. */
  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

/** A set keeps the order, so the first one was opened or answered longest ago. */
function newestOnly(): (socket: Socket) => void {
  const sockets = new Set<Socket>();
  return (socket) => {
    if (socket.destroyed) return;
    if (!sockets.delete(socket)) socket.once('close', () => sockets.delete(socket));
    sockets.add(socket);
    const [oldest] = sockets;
    if (sockets.size > MOST) oldest?.destroy();
  };
}

function cutSlow(response: ServerResponse, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), READ_WITHIN);
  response.once('close', () => {
    clearTimeout(timer);
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { at, allowed, text }: MetricsServerOptions,
): Promise<void> {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const host = hostIn(request.headers.host);
  const own = [at.host, request.socket.localAddress ?? ''].map(asHost);
  if (host === null || ![...LOOPBACK_NAMES, ...own, ...allowed].includes(host)) {
    const hint =
      host === null ? 'the request names no host' : `to be asked as ${host} it needs --allow-host ${host}`;
    response.writeHead(403).end(`nccl-trace: ${hint}\n`);
  } else if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
    response.writeHead(404).end('metrics are at /metrics\n');
  } else {
    const isOpen = request.headers.accept?.includes('application/openmetrics-text') === true;
    try {
      const { type, bytes } = await text(isOpen);
      response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
    } catch (error) {
      response.writeHead(500).end(`${reason(error)}\n`);
    }
  }
}

/** An IPv4 address arrives as ::ffff:10.0.0.7 where both are listened on. */
function asHost(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return hostIn(isIP(plain) === 6 ? `[${plain}]` : plain);
}

function listen(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error) => {
      const what = codeOf(error) === 'EADDRINUSE' ? 'is in use' : `cannot be opened: ${reason(error)}`;
      fail(new OutputError(`${host}:${port}`, what, 'name another address with --listen', { cause: error }));
    });
    server.listen(port, host === '' ? undefined : host, done);
  });
}
