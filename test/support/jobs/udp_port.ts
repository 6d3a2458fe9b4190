/** A UDP port of this host that is free at the moment. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((done) => socket.close(done));
  return port;
}
