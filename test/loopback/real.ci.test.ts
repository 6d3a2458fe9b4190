// The loopback against NCCL 2.30.7's own host code: the same calls give the same callbacks, with the exceptions named here.
//
// test/loopback/nccl/*.txt are outlines of recordings under NCCL's host code (rank 0). NCCL_TRACE_REAL=DIR makes them anew from the
// recordings' logs, DIR/<name>/tee/.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Run } from './loopback.js';
import { outlineOf, type Line } from './outline.js';
import { teeLines } from './tee.js';

const real = process.env.NCCL_TRACE_REAL;
const fixture = (name: string) => fileURLToPath(new URL(`nccl/${name}.txt`, import.meta.url));

interface Workload {
  readonly name: string;
  /** The same calls, for the loopback. */
  readonly args: string;
  /** Communicators that both have. */
  readonly comms: readonly string[];
  /** Activation mask of the recording. */
  readonly mask?: string;
  /** Only so many collectives, sends and receives of it. */
  readonly tasks?: number;
}

const WORKLOADS: Workload[] = [
  {
    name: 'lbreal',
    args: '--ranks 2 --ops allreduce:1M,allgather:512K,sync,group{send+recv:1200000},sync,allreduce:16K',
    comms: ['world'],
  },
  {
    name: 's2',
    args:
      '--ranks 4 --ops allreduce:4M,allreduce:4000,allgather:1M,reducescatter:1M,reduce(2):120000,sync,' +
      'group{allreduce:16K+allgather:8K},sync,group{send+recv:1200000},sync,alltoall:160000,sync,allreduce:1M*5',
    comms: ['world'],
  },
  {
    name: 'graph',
    args:
      '--ranks 2 --ops allreduce:16K,sync,' +
      'graph{allreduce:256K+group{allgather:32K+allreduce:4K}+group{send+recv:120000}}*3,sync,allreduce:16K',
    comms: ['world'],
    // NCCL's job launched the graph once more after that. A script of the loopback can launch a graph at one place only.
    tasks: 17,
  },
  {
    name: 'split',
    args:
      '--ranks 4 --seed 3 --groups-strided even=2 --ops allreduce:16K,allreduce@even:256K,allreduce:256K,sync,' +
      'group{allreduce:40000+allreduce@even:40000},sync,allreduce@even:120000',
    // NCCL's job also had a non-blocking communicator. Inside groups, communicators are ordered by their hashes.
    comms: ['world', 'even'],
    mask: '0xf1f',
  },
];

async function outlineOfLoopback(args: string, mask: string): Promise<string[]> {
  const run = await Run.of(`${args} --proto simple --channels 2 --iterations 1`, {
    echo: { ECHO_MASK: mask },
  });
  expect(run.exit).toMatchObject({ code: 0, stderr: '' });
  const lines = run.callbacks(0).flatMap((line): Line[] => {
    const { thread, call, type, handle, state, fields } = line;
    if (call === 'init' || call === 'finalize') return [];
    const value = fields.transSize ?? '';
    return [
      { thread, call, type, handle: String(handle), parent: fields.parent ?? '', state, value, fields },
    ];
  });
  run.remove();
  return outlineOf(lines);
}

/** Up to the group that has the one after them, and the rest of what had begun. */
function firstTasks(lines: readonly Line[], count = Infinity): readonly Line[] {
  let tasks = 0;
  let end = lines.length;
  lines.forEach(({ type }, at) => {
    if (type === 'Group' && tasks === count) end = Math.min(end, at);
    if (type === 'Coll' || type === 'P2p') tasks++;
  });
  const begun = new Set(lines.slice(0, end).map(({ handle }) => handle));
  const rest = lines.slice(end).filter(({ call, type, handle, parent }) => {
    if (call !== 'start') return begun.has(handle);
    const goesOn = type === 'ProxyStep' && begun.has(parent);
    if (goesOn) begun.add(handle);
    else begun.delete(handle);
    return goesOn;
  });
  return [...lines.slice(0, end), ...rest];
}

test.skipIf(real === undefined)('outlines of real recordings are made', () => {
  for (const { name, comms, tasks } of WORKLOADS) {
    const folder = path.join(real!, name, 'tee');
    const [log] = readdirSync(folder).sort();
    const outline = outlineOf(
      firstTasks(teeLines(readFileSync(path.join(folder, log!), 'utf8'), comms), tasks),
    );
    writeFileSync(fixture(name), `${outline.join('\n')}\n`);
  }
});

test.each(WORKLOADS)('$name: as NCCL', async ({ name, args, mask }) => {
  const theirs = readFileSync(fixture(name), 'utf8').trimEnd().split('\n');
  const ours = await outlineOfLoopback(args, mask ?? '0x7fff');
  expect(ours).toEqual(theirs);
});
