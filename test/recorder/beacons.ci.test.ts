// Beacons over real sockets: two recorders exchange their times, and forged packets change nothing.

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import type { Beacon, RankFile } from '../../src/rankfile/types.js';
import { freeUdpPort } from '../support/jobs/udp_port.js';
import { inNewFolder, PLUGIN, programFile } from './programs.js';

const RUN = 'beacons-of-a-test';
const HOLD = await programFile('hold');
const PATIENCE = { timeout: 30_000, interval: 50 };

/** A recording process that runs until the test ends it. */
class Recorder {
  private said = '';

  constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly rank: number,
  ) {
    child.stdout!.on('data', (text: Buffer) => (this.said += text.toString()));
  }

  async says(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.said, PATIENCE).toMatch(pattern);
    return this.said;
  }

  /** Of all its threads, user and system, in clock ticks (mostly 10 ms). */
  cpuTicks(): number {
    const tasks = `/proc/${this.child.pid}/task`;
    const ofThread = (thread: string): number => {
      const fields = readFileSync(`${tasks}/${thread}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    return readdirSync(tasks).reduce((sum, thread) => {
      try {
        return sum + ofThread(thread);
      } catch {
        return sum; // the thread has ended since
      }
    }, 0);
  }

  tell(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  file(): RankFile {
    return openRankFile(path.join(this.folder, RUN, `rank${String(this.rank).padStart(5, '0')}.bin`));
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.stdin!.end();
    await once(this.child, 'exit');
  }
}

interface Stage {
  readonly port: number;
  readonly record: (rank: number, peer?: string) => Promise<Recorder>;
  readonly socket: (port?: number) => Promise<Socket>;
}

/** Everything that was started ends with `use`. */
async function onStage(use: (stage: Stage) => Promise<void>): Promise<void> {
  await inNewFolder(async (folder) => {
    mkdirSync(folder);
    const recorders: Recorder[] = [];
    const sockets: Socket[] = [];
    const socket = async (port = 0): Promise<Socket> => {
      const made = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
      sockets.push(made);
      made.bind(port, '127.0.0.1');
      await once(made, 'listening');
      return made;
    };
    const port = await freeUdpPort();
    const record = async (rank: number, peer = `127.0.0.1:${port}`): Promise<Recorder> => {
      const env = {
        PATH: process.env.PATH,
        NCCL_TRACE_DIR: folder,
        NCCL_TRACE_RUN_ID: RUN,
        NCCL_TRACE_RING_MB: '1',
        NCCL_TRACE_CLOCK_PEER: peer,
        RANK: String(rank),
        WORLD_SIZE: '2',
        MASTER_ADDR: 'localhost',
        MASTER_PORT: String(port),
      };
      const child = spawn(HOLD, [PLUGIN], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      const recorder = new Recorder(child, folder, rank);
      recorders.push(recorder);
      await recorder.says(/ready/);
      return recorder;
    };
    try {
      await use({ port, record, socket });
    } finally {
      for (const recorder of recorders) await recorder.end();
      for (const open of sockets) open.close();
    }
  });
}

// What the recorder's packets look like, from native/plugin/beacon/beacon_packet.h.
const BYTES = 64;
const MAGIC = 0x4252544e;
/** kReadsPerSecond of beacon.cc. */
const READS_PER_SECOND = 4096;

/** FNV-1a. */
function runTag(name: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(name)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

function packet(kind: number, nonce: bigint, run = RUN): Buffer {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt8(1, 4);
  bytes.writeUInt8(kind, 5);
  bytes.writeBigUInt64LE(runTag(run), 8);
  bytes.writeBigUInt64LE(nonce, 16);
  return bytes;
}

function answer(question: Buffer, received: bigint, sent: bigint): Buffer {
  const bytes = Buffer.from(question);
  bytes.writeUInt8(1, 5);
  bytes.writeBigUInt64LE(received, 24);
  bytes.writeBigUInt64LE(sent, 32);
  bytes.fill(0xab, 40, 56);
  bytes.writeUInt32LE(1, 56);
  return bytes;
}

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
};

test.each([
  ['an address', (port: number) => `127.0.0.1:${port}`],
  ['a name', (port: number) => `localhost:${port}`],
  ['auto: MASTER_ADDR and MASTER_PORT', () => 'auto'],
])('two processes exchange the time, in the order of cause and effect: %s', async (_, peer) => {
  await onStage(async ({ port, record }) => {
    await record(0, peer(port));
    const asking = await record(1, peer(port));
    await expect.poll(() => asking.file().beacons.length, PATIENCE).toBeGreaterThan(2);
    const { header, beacons, problems } = asking.file();
    expect(problems).toEqual([]);
    for (const { sent, received, peerReceived, peerSent, peerBootId, peerTickSource } of beacons) {
      // One machine: the peer's counter is ours.
      expect(Number(peerReceived - header.tickBase)).toBeGreaterThanOrEqual(sent);
      expect(received).toBeGreaterThanOrEqual(Number(peerSent - header.tickBase));
      expect([peerBootId, peerTickSource]).toEqual([header.process.bootId, header.tickSource]);
    }
  });
});

test('rank 0 answers correct questions only, and never with more bytes than it got', async () => {
  await onStage(async ({ port, record, socket }) => {
    await record(0);
    const client = await socket();
    const answers: Buffer[] = [];
    client.on('message', (bytes) => answers.push(bytes));
    const good = packet(0, 77n);
    const bad = [
      Buffer.alloc(0),
      Buffer.alloc(BYTES),
      randomBytes(BYTES),
      randomBytes(1400),
      good.subarray(0, BYTES - 1),
      Buffer.concat([good, Buffer.alloc(1)]),
      packet(0, 77n, 'another-run'),
      packet(1, 77n),
      ...[0, 4, 5, 6, 30, 50, 60].map((at) => changed(good, at)),
    ];
    for (const bytes of bad) client.send(bytes, port, '127.0.0.1');
    client.send(good, port, '127.0.0.1');
    await expect.poll(() => answers.length, PATIENCE).toBe(1);
    expect(answers[0]).toHaveLength(BYTES);
    expect(answers[0]!.readBigUInt64LE(16)).toBe(77n);
    expect(answers[0]!.readUInt8(5)).toBe(1);
    expect(answers[0]!.readBigUInt64LE(32)).toBeGreaterThan(answers[0]!.readBigUInt64LE(24));
  });
});

test('a peer with a name that is never found costs nothing', async () => {
  await onStage(async ({ record }) => {
    const recorder = await record(1, 'no.such.host.invalid:1');
    const before = recorder.cpuTicks();
    await new Promise((done) => setTimeout(done, 2_000));
    // A thread that never sleeps has some 200, on a machine that is busy with others still a few dozen.
    expect(recorder.cpuTicks() - before).toBeLessThan(20);
    expect(recorder.file().beacons).toEqual([]);
  });
});

test('rank 0 reads only a part of a flood, and answers again after it', async () => {
  await onStage(async ({ port, record, socket }) => {
    const recorder = await record(0);
    const client = await socket();
    const answered = new Set<bigint>();
    client.on('message', (bytes) => answered.add(bytes.readBigUInt64LE(16)));
    const FLOOD = 30_000;
    const begin = performance.now();
    let left = FLOOD;
    await new Promise<void>((done) => {
      for (let i = 0; i < FLOOD; i++)
        client.send(packet(0, BigInt(i + 1)), port, '127.0.0.1', () => {
          if (--left === 0) done();
        });
    });
    const ask = (): boolean => {
      client.send(packet(0, 1_000_000n), port, '127.0.0.1');
      return answered.has(1_000_000n);
    };
    await expect.poll(ask, { ...PATIENCE, interval: 200 }).toBe(true);
    const seconds = (performance.now() - begin) / 1e3;
    expect(answered.size).toBeLessThanOrEqual(READS_PER_SECOND * (Math.ceil(seconds) + 1));
    const { heartbeat } = recorder.file();
    await expect.poll(() => recorder.file().heartbeat?.tick, PATIENCE).toBeGreaterThan(heartbeat!.tick);
  });
});

test('an asking process believes the answer to its question only', async () => {
  await onStage(async ({ port, record, socket }) => {
    const server = await socket(port);
    const asked: Buffer[] = [];
    let given = 0;
    server.on('message', (question: Buffer, from: RemoteInfo) => {
      asked.push(question);
      const reply = (bytes: Buffer): void => {
        server.send(bytes, from.port, from.address);
      };
      const nonce = question.readBigUInt64LE(16);
      reply(answer(packet(0, nonce ^ 1n), 1n, 2n)); // spoofed: does not know the question
      reply(answer(packet(0, nonce, 'another-run'), 1n, 2n));
      reply(Buffer.concat([answer(question, 1n, 2n), Buffer.alloc(1)]));
      reply(answer(question, 1n, 2n).subarray(0, 40));
      reply(question); // back to sender
      reply(randomBytes(BYTES));
      if (asked.length > 1) reply(answer(asked.at(-2)!, 1n, 2n)); // late
      given++;
      const right = answer(question, BigInt(1000 * given), BigInt(1000 * given + 5));
      reply(right);
      reply(right); // twice
    });
    const asking = await record(1);
    await expect.poll(() => given, PATIENCE).toBeGreaterThan(2);
    const read = (): readonly Beacon[] => asking.file().beacons;
    await expect.poll(() => read().length, PATIENCE).toBeGreaterThan(2);
    read().forEach(({ peerReceived, peerSent, peerBootId }) => {
      expect(peerReceived % 1000n).toBe(0n);
      expect(peerSent - peerReceived).toBe(5n);
      expect(peerBootId).toBe('ab'.repeat(16));
    });
    expect(new Set(read().map(({ peerSent }) => peerSent)).size).toBe(read().length);
    for (const question of asked) {
      expect(question).toHaveLength(BYTES);
      expect(question.subarray(0, 16)).toEqual(packet(0, 0n).subarray(0, 16));
      expect(question.subarray(24)).toEqual(Buffer.alloc(40));
    }
    expect(new Set(asked.map((question) => question.readBigUInt64LE(16))).size).toBe(asked.length);
  });
});

test('a forked child has none of the sockets, and a port that is taken is one warning', async () => {
  await onStage(async ({ port, record }) => {
    const first = await record(0);
    first.tell('fork');
    expect(await first.says(/child/)).toMatch(/child 0 parent 3$/m);
    const second = await record(0, `127.0.0.1:${port}`);
    const said = await second.says(/ready/);
    expect(said.match(/warn .*/g)).toEqual([
      expect.stringMatching(
        `^warn nccl-trace: NCCL_TRACE_CLOCK_PEER: UDP port ${port} cannot be opened: .*; no beacons$`,
      ),
    ]);
    const third = await record(1);
    third.tell('fork');
    // It has asked before it forks, or will after: in either case the child has nothing.
    expect(await third.says(/child/)).toMatch(/child 0 parent [23]$/m);
  });
});

test('without the setting there is no socket and no table', async () => {
  await onStage(async ({ record }) => {
    const recorder = await record(0, '');
    recorder.tell('fork');
    expect(await recorder.says(/child/)).toMatch(/child 0 parent 0$/m);
    expect(recorder.file().beacons).toEqual([]);
    expect(recorder.file().header.options).not.toContain('CLOCK_PEER');
  });
});
