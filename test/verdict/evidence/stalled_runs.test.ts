/** From files to the verdict on jobs that are stuck: at a checkpoint, at their start, or only because a record is lost. Ticks are ns. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectNext } from '../../../src/report/next_command.js';
import { verdictText } from '../../../src/report/verdict_text.js';
import { diagnose, type DiagnosisOptions } from '../../../src/report/diagnosis.js';
import { scanFile } from '../../../src/scan/scan.js';
import {
  RankFileBuilder,
  type FileOptions,
  type RingBuilder,
} from '../../support/rank_files/rank_file_builder.js';
import { outcomesOf } from '../../../src/model/work_end_table.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

const S = 1e9;

interface Rank {
  readonly number: number;
  readonly file: RankFileBuilder;
  readonly comm: number;
  readonly host: RingBuilder;
  readonly ops: RingBuilder;
}

/** One of two ranks, which receives from the other; still recording unless said. */
function rank(number: number, options: FileOptions = {}): Rank {
  const file = new RankFileBuilder({ rank: number, worldSize: 2, life: 'recording', ...options });
  return {
    file,
    number,
    comm: file.communicator({ name: 'world', commId: 0xabcn, rank: number, nRanks: 2 }),
    host: file.ring('host', 256, { tid: 1 }),
    ops: file.ring('ops', 256, { tid: 2 }),
  };
}

/** Returns the position of the record of the operation's end. */
function allReduce(
  { number, comm, host, ops }: Rank,
  at: number,
  seqNumber: number,
  end: number | null,
): { readonly stop: number } {
  const parent = host.startColl(at, { comm, func: 'AllReduce', seqNumber });
  host.stop(at + 1000, parent);
  const op = ops.startProxyOp(at + 2000, {
    comm,
    parent,
    peer: 1 - number,
    isSend: true,
    ordinal: seqNumber,
  });
  const stop = ops.head;
  if (end !== null) ops.stop(end, op);
  return { stop };
}

async function judged(name: string, ranks: readonly Rank[], options: DiagnosisOptions = {}) {
  const run = join(folder, name);
  mkdirSync(run);
  ranks.forEach(({ file }, i) => {
    file.write(join(run, `rank0000${i}.bin`));
  });
  const diagnosis = await diagnose([run], options);
  const lines = verdictText(diagnosis, inspectNext(diagnosis, ['RUN'], options));
  return { verdict: diagnosis.verdict, lines };
}

const beats = (ranks: readonly Rank[], until: number): void => {
  for (const { file } of ranks) for (let at = 0; at <= until; at++) file.heartbeat(at * S);
};

describe('a long checkpoint of rank 0, as others wait for it', () => {
  /** Collectives each second, the checkpoint from 10 s on; heartbeats until `until`. */
  const job = (until: number, pausedBefore: boolean): Rank[] => {
    const ranks = [rank(0), rank(1)];
    for (let seq = 0; seq < 9; seq++)
      for (const one of ranks) allReduce(one, (seq + 1) * S, seq, (seq + 1.1) * S);
    const from = pausedBefore ? 60 : 10;
    if (pausedBefore) for (const one of ranks) allReduce(one, 59 * S, 9, 59.1 * S);
    allReduce(ranks[1]!, from * S, 10, null);
    beats(ranks, until);
    return ranks;
  };

  it('is no alarm in the middle of it, and says who has not come', async () => {
    const { verdict, lines } = await judged('checkpoint', job(25, false));
    expect(verdict).toMatchObject({
      kind: 'waiting',
      waiting: { stall: { seq: 10, neverEntered: [{ file: 0 }], waiting: [{ file: 1 }] } },
    });
    expect(lines.slice(0, -1)).toEqual([
      'WAITING  AllReduce seq 10 on world (2 ranks): rank 0 did not enter it yet',
      '  stuck:          since 08:53:30 UTC (15.0 s)',
      '  no hang yet:    the records end after 15.0 s; --hung-after is 30.0 s',
      '  not entered:    rank 0 (node000), alive to the end',
      '                  last there: AllReduce seq 8, 08:53:29 UTC',
      '  not finished:   rank 1',
      '  operations:     1 no step in flight',
      '  look at:        rank 1 ch 0 send to 0, 0 of 1 steps',
      '  lost records:   none',
      '  clocks:         one counter for all ranks, exact',
    ]);
  });

  it('is an alarm when it lasts, and a later one where the job paused as long before', async () => {
    expect((await judged('hang', job(41, false))).verdict.kind).toBe('hung');
    expect((await judged('paused', job(100, true))).verdict.kind).toBe('waiting');
    expect((await judged('paused-long', job(170, true))).verdict.kind).toBe('hung');
  });

  it('is an alarm after the time of --hung-after, which the next command repeats', async () => {
    const { verdict, lines } = await judged('asked', job(25, false), { hungAfter: 5 });
    expect(verdict.kind).toBe('hung');
    expect(lines.at(-1)).toContain('--hung-after 5');
  });
});

it('the start-up of the first collective is no alarm', async () => {
  const ranks = [rank(0), rank(1)];
  ranks.forEach((one, i) => allReduce(one, (1 + 3 * i) * S, 0, null));
  beats(ranks, 20);
  expect((await judged('startup', ranks)).verdict).toMatchObject({
    kind: 'waiting',
    waiting: { stall: { seq: 0, neverEntered: [], waiting: [{ file: 0 }, { file: 1 }] } },
  });
});

describe('a record of an end is lost', () => {
  const closed = (number: number): Rank => rank(number, { mode: 'stream', life: 'closed' });

  it('and a later collective ended: so did this one', async () => {
    const ranks = [closed(0), closed(1)];
    for (const one of ranks) {
      const { stop } = allReduce(one, S, 0, 1.1 * S);
      if (one === ranks[0]) one.ops.tear(stop);
      allReduce(one, 2 * S, 1, 2.1 * S);
    }
    beats(ranks, 90);
    expect((await judged('passed', ranks)).verdict).toMatchObject({ kind: 'healthy', endsNotKnown: 1 });
    const { workEnds, pending } = scanFile(join(folder, 'passed', 'rank00000.bin'));
    expect(outcomesOf(workEnds)).toEqual(['end-lost', 'complete']);
    expect(pending.works).toEqual([]);
  });

  it('the same, if its communicator was then destroyed in order', async () => {
    const ranks = [closed(0), closed(1)];
    for (const one of ranks) {
      const { stop } = allReduce(one, S, 0, 1.1 * S);
      if (one === ranks[0]) one.ops.tear(stop);
      allReduce(one, 2 * S, 1, 2.1 * S);
      one.file.finalize(one.comm, 30 * S);
    }
    beats(ranks, 31);
    expect((await judged('destroyed', ranks)).verdict).toMatchObject({ kind: 'healthy', endsNotKnown: 1 });
  });

  it('the end of the last collective is lost: it may be a hang, and is not called one', async () => {
    const ranks = [closed(0), closed(1)];
    for (const one of ranks) {
      allReduce(one, S, 0, 1.1 * S);
      const { stop } = allReduce(one, 2 * S, 1, 2.1 * S);
      if (one === ranks[0]) one.ops.tear(stop);
    }
    beats(ranks, 90);
    const { verdict, lines } = await judged('unclear', ranks);
    expect(verdict).toMatchObject({
      kind: 'unclear',
      unclear: { work: { seq: 1, file: 0 }, works: 1, files: [0], lost: 1 },
    });
    expect(lines.slice(0, 3)).toEqual([
      'UNCLEAR  whether it ended: AllReduce seq 1 on world',
      '  cannot tell:    1 slot lost after it began, rank 0',
      `  began:          08:53:22 UTC, record 0:${ranks[0]!.host.head - 5} of rank 0`,
    ]);
  });

  it('and nothing later ended, but no record of its own is lost: it hangs', async () => {
    const ranks = [closed(0), closed(1)];
    for (const one of ranks) {
      const { stop } = allReduce(one, S, 0, 1.1 * S);
      if (one === ranks[0]) one.ops.tear(stop);
      allReduce(one, 2 * S, 1, null);
    }
    beats(ranks, 90);
    expect((await judged('stalled', ranks)).verdict).toMatchObject({
      kind: 'hung',
      hang: { seq: 1, waiting: [{ file: 0 }, { file: 1 }] },
    });
  });
});

/** Two processes of two GPUs each: rank 1 alone does not come, or rank 1 of `tp` where that is a part of the world. */
describe('in a process with several GPUs, the GPU that did not come', () => {
  const process = (number: number, name: string): Rank[] => {
    const one = rank(number, { worldSize: 2 });
    // Instead of the communicator that rank() makes for the process.
    return [0, 1].map((gpu) => ({
      ...one,
      number: gpu,
      comm: one.file.communicator({ name, commId: 0xdefn, rank: 2 * number + gpu, nRanks: 4 }),
    }));
  };
  const job = (): Rank[][] => [process(0, 'dp'), process(1, 'dp')];

  it('is named alone', async () => {
    const processes = job();
    for (const one of processes.flat()) allReduce(one, S, 0, 1.1 * S);
    for (const one of processes.flat().filter((_, i) => i !== 1)) allReduce(one, 2 * S, 1, null);
    const firsts = processes.map(([first]) => first!);
    beats(firsts, 90);
    const { verdict, lines } = await judged('gpus', firsts);
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: {
        seq: 1,
        neverEntered: [{ file: 0, inComm: [1], stuckIn: null, newest: { seq: 0 } }],
        waiting: [{ file: 0, inComm: [0] }, { file: 1 }],
      },
    });
    expect(lines).toContain('  never entered:  rank 1 (node000), alive to the end');
    expect(lines).toContain('  not finished:   3 ranks (0,2-3)');
  });

  it('is none if all came', async () => {
    const processes = job();
    for (const one of processes.flat()) allReduce(one, S, 0, null);
    const firsts = processes.map(([first]) => first!);
    beats(firsts, 90);
    const { verdict, lines } = await judged('gpus-all', firsts);
    expect(verdict).toMatchObject({ kind: 'hung', hang: { neverEntered: [] } });
    expect(lines.join('\n')).not.toContain('never entered');
  });
});
