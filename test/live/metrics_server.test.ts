/** Who gets metrics and at what cost, with real connections: by which name, how many at once, and for how long without reading. */

import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MetricsServer } from '../../src/cli/metrics_server.js';
import { OutputError } from '../../src/base/errors.js';

/** More than the kernel takes for a reader that does not read. */
const BYTES = Buffer.alloc(32 << 20, 'x');
let server: MetricsServer;
let port: number;
beforeEach(async () => {
  const text = (): Promise<{ type: string; bytes: Buffer }> =>
    Promise.resolve({ type: 'text/plain', bytes: BYTES });
  server = await MetricsServer.start({ at: { host: '', port: 0 }, allowed: ['node1.example'], text });
  port = Number(new URL(server.url).port);
});
afterEach(() => {
  server.close();
});

const ask = (
  host: string | undefined,
  to = '127.0.0.1',
): Promise<{ status: number; size: number; text: string }> =>
  new Promise((done, fail) => {
    const headers = host === undefined ? {} : { host };
    const options = { host: to, port, path: '/metrics', headers, agent: false, setHost: host !== undefined };
    request(options, (response) => {
      let [size, text] = [0, ''];
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (text.length < 200) text += part.toString('latin1', 0, 200);
      });
      response.on('end', () => {
        done({ status: response.statusCode!, size, text });
      });
    })
      .on('error', fail)
      .end();
  });

it.each<[string | undefined, number, string?]>([
  ['127.0.0.1:9477', 200],
  ['localhost', 200],
  ['LOCALHOST:1', 200],
  ['[::1]:9477', 200],
  ['[0:0:0:0:0:0:0:1]', 200, '::1'],
  ['127.0.0.2', 200, '127.0.0.2'],
  ['node1.example:9477', 200],
  ['127.0.0.2', 403],
  ['evil.example:9477', 403],
  ['localhost.evil.example', 403],
  ['node1.example.evil', 403],
  ['localhost/x', 403],
  ['user@localhost', 403],
  [undefined, 400],
])('asked as %s: %i', async (host, status, to) => {
  const answer = await ask(host, to);
  expect(answer.status).toBe(status);
  expect(answer.size === BYTES.length).toBe(status === 200);
  if (host === 'evil.example:9477') expect(answer.text).toContain('it needs --allow-host evil.example');
});

it('fifty that never read neither keep the memory nor the next one from its answer', async () => {
  const before = process.memoryUsage.rss();
  const idle: Socket[] = [];
  for (let i = 0; i < 50; i++) {
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20));
    idle.push(socket);
  }
  expect((await ask('localhost')).size).toBe(BYTES.length);
  // One answer for each of the 16 that stay would be 512 MiB.
  expect(process.memoryUsage.rss() - before).toBeLessThan(8 * BYTES.length);
  let closed = 0;
  for (const socket of idle) socket.on('close', () => closed++).resume();
  while (closed < 50 - 16) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const socket of idle) socket.destroy();
});

it('an address that is in use', async () => {
  const start = MetricsServer.start({
    at: { host: '127.0.0.1', port },
    allowed: [],
    text: () => Promise.reject(new Error()),
  });
  await expect(start).rejects.toThrow(OutputError);
});
