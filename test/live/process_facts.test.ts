/** What /proc tells of a process, and that what it does not tell is unknown, not zero. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
// The test becomes another user for a moment.

import { seteuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeIncident } from '../../src/live/incident.js';
import { processFacts } from '../../src/live/process_facts.js';
import { stacksOf } from '../../src/live/stacks.js';
import { HeldFolder } from '../../src/output/held_folder.js';
import { openRankFileHeader } from '../../src/rankfile/index.js';
import type { Diagnosis } from '../../src/report/diagnosis.js';
import { startPuppet } from '../support/jobs/puppet.js';
import { ALICE, NOT_TWO_USERS } from '../support/program/two_users.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

let folder: string;
let remove: () => void;
let child: ChildProcess;
const server = createServer();
beforeEach(async () => {
  ({ folder, remove } = temporaryFolder());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  child.kill('SIGKILL');
  server.close();
  await once(server, 'close');
  remove();
});

/** A process with a connection and a sleeping thread. `end`: its first thread ends before the other. */
async function start(end: string): Promise<number> {
  const { port } = server.address() as { port: number };
  server.once('connection', (socket) => socket.on('error', () => undefined));
  const script = `
import ctypes, socket, threading, time
s = socket.create_connection(('127.0.0.1', ${port}))
threading.Thread(target=time.sleep, args=(100,)).start()
print(1, flush=True)
${end}`;
  child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  return child.pid!;
}

it('a process whose first thread has ended has memory, maps and connections', async () => {
  const pid = await start('ctypes.CDLL(None).pthread_exit(None)');
  while (!readFileSync(`/proc/${pid}/status`, 'latin1').includes('State:\tZ'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const facts = (await processFacts(pid))!;
  expect(facts.name).toBe('python3');
  expect(facts.state).not.toMatch(/^Z/);
  expect(facts.residentBytes).toBeGreaterThan(1e6);
  expect(facts.connections).toEqual([expect.objectContaining({ state: 'established' })]);
});

it.skipIf(NOT_TWO_USERS !== null)(
  `for another user, connections and wait channels are unknown (${NOT_TWO_USERS ?? 'here'})`,
  async () => {
    const pid = await start('time.sleep(100)');
    seteuid!(ALICE);
    try {
      const { connections, connectionCount, threads } = (await processFacts(pid))!;
      expect({ connections, connectionCount }).toEqual({ connections: null, connectionCount: null });
      expect(threads.map(({ waitsIn, kernelStack }) => ({ waitsIn, kernelStack }))).toEqual(
        threads.map(() => ({ waitsIn: null, kernelStack: null })),
      );
      expect(threads.length).toBe(2);
    } finally {
      seteuid!(0);
    }
  },
);

describe('an incident', () => {
  const take = async (member: Parameters<typeof takeIncident>[4][number]) => {
    const held = HeldFolder.named(mkdtempSync(path.join(folder, 'incident-')));
    const alarm = { kind: 'hung', headline: 'HUNG', ranks: '0', files: [] } as const;
    const options = { snapshot: false, stacks: 'gdb', ringBases: [] } as const;
    const found = { ranks: [] } as unknown as Diagnosis;
    const incident = await takeIncident(held, new Date(), alarm, found, [member], options);
    held.close();
    return { incident, files: readdirSync(held.path) };
  };

  it('looks at the process that writes the file, and at no other one that the file names', async () => {
    const other = await start('time.sleep(100)');
    const job = startPuppet({ NCCL_TRACE_DIR: folder, NCCL_TRACE_RING_DIR: 'none', RANK: '0' });
    try {
      await job.tell('coll 10');
      const file = path.join(folder, 'rank00000.bin');
      const header = openRankFileHeader(file);
      const member = {
        ...({ path: file, header, process: 'runs', isOver: false } as const),
        ...{ movedAt: 0, livedAt: 0, hasMoved: true, slots: 0 },
      };
      const own = await take(member);
      expect(own.incident.suspects[0]).toMatchObject({ process: { name: 'puppet' }, why: null });
      const process = { ...header.process, pid: other };
      const forged = await take({ ...member, header: { ...header, process } });
      const why = `it names a process that is not of this job (pid ${other})`;
      expect(forged.incident.suspects).toMatchObject([{ process: null, stacks: null, why }]);
      expect(forged.incident.missing).toEqual([`rank00000.bin: ${why}`]);
      expect(forged.files).toEqual(['incident.json']);
      // A process whose start is another one, too, has ended, or is of another time namespace.
      expect(await stacksOf({ path: file, header: { ...header, process } }, 'auto')).toBeNull();
    } finally {
      await job.kill();
    }
  });
});
