/** NCCL_TRACE_SAMPLE: all ranks record the same collectives, each with all its events. */

import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeRecord, openRankFile } from '../../src/rankfile/index.js';
import { record } from '../support/jobs/loopback.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

/** Of one rank: what each recorded collective has below it, as "function number: operations, steps". */
function chosen(file: string): string[] {
  const rank = openRankFile(file);
  const all = rank.rings.flatMap(({ ring, records }) =>
    Array.from(records.kind, (_, row) => {
      const { position, name, fields } = describeRecord(rank, ring, records, row);
      return { handle: `${ring}:${position}`, name, fields: new Map(fields) };
    }),
  );
  const named = (name: string) => all.filter((r) => r.name === `${name} start`);
  const below = (parents: readonly string[], name: string): string[] =>
    named(name).flatMap(({ handle, fields }) =>
      parents.includes(String(fields.get('parent'))) ? [handle] : [],
    );
  const told = named('Coll').map(({ handle, fields }) => {
    const ops = below([handle], 'ProxyOp');
    return `${fields.get('func')} ${fields.get('seqNumber')}: ${ops.length}, ${below(ops, 'ProxyStep').length}`;
  });
  // The other collectives have left no operation.
  const colls = named('Coll').map(({ handle }) => handle);
  expect(below(colls, 'ProxyOp')).toHaveLength(named('ProxyOp').length);
  return told.sort();
}

async function chosenBy(run: string, settings: Readonly<Record<string, string>>): Promise<string[][]> {
  const args = '--ranks 4 --channels 2 --iterations 6 --ops allreduce:64K,allgather:32K';
  mkdirSync(path.join(folder, run));
  const { folder: files } = await record(path.join(folder, run), args, settings);
  return readdirSync(files)
    .sort()
    .map((name) => chosen(path.join(files, name)));
}

it('each third collective, on all ranks, with all its operations and steps', async () => {
  const all = await chosenBy('all', {});
  const third = await chosenBy('third', { NCCL_TRACE_SAMPLE: '3' });
  expect(third).toHaveLength(4);
  for (const [rank, works] of third.entries()) {
    expect(works).toEqual(all[rank]!.filter((work) => Number(/ (\d+):/.exec(work)![1]) % 3 === 0));
    expect(works.length).toBeGreaterThan(0);
    expect(works.map((work) => work.split(':')[0])).toEqual(third[0]!.map((work) => work.split(':')[0]));
  }
});
