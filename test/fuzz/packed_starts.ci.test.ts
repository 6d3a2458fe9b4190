/**
 * A file of 1 MB that unpacks to millions of starts: it ends with a sentence, the healthy file beside it is read, and no command needs 1 GiB. What
 * such a file may cost is in src/kernel/host/room.ts; SECURITY.md has measured figures.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { STARTS, writePackedStarts } from '../support/forged/packed_starts.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { commandsOn } from './commands.js';

const folder = folderOfFile();

describe.each(Object.keys(STARTS) as (keyof typeof STARTS)[])('%s', (name) => {
  it('millions of them end the file, and no other', () => {
    const own = path.join(folder, name);
    mkdirSync(own);
    expect(
      writePackedStarts(path.join(own, 'rank00000.bin'), name, { chunks: 48, bytes: 1e6 }),
    ).toBeGreaterThan(390_000);
    const healthy = new RankFileBuilder({
      mode: 'stream',
      rank: 1,
      worldSize: 2,
      life: 'closed',
      runId: 'packed',
    });
    const comm = healthy.communicator({ name: 'dp', commId: 7n, rank: 1, nRanks: 2 });
    const ring = healthy.ring('host', 64, { tid: 1 });
    ring.stop(200, ring.startColl(100, { comm, func: 'AllReduce', seqNumber: 1 }));
    healthy.heartbeat(1e9).write(path.join(own, 'rank00001.bin'));
    for (const ran of commandsOn(
      own,
      name === 'collectives' ? ['inspect', 'merge', 'report'] : ['inspect'],
    )) {
      expect(ran.faults).toEqual([]);
      expect(ran.said).toMatch(/rank00000.bin: its records need more than \d+ MiB of memory/);
      expect(ran.said).not.toMatch(/rank00001.bin: /);
    }
  });
});
