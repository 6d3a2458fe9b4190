/** The pickle reader: what Python writes is read, and nothing in a file can run, hang or crash it. */

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { DumpError, readDump } from '../../src/pytorch/dump.js';
import { PickleError, readPickle, type PickleDict } from '../../src/pytorch/pickle.js';
import { dumpOf, pickled, STARTED, type MadeUpDumps } from '../support/made_up/flight_dumps.js';

const MADE_UP: MadeUpDumps = {
  groups: { TP: [0, 1], DP: [0, 2] },
  calls: [
    [
      { group: 'TP', seq: 300, op: '_all_gather_base', sizes: [[4096, 1, 5120]], dtype: 'BFloat16' },
      {
        group: 'DP',
        seq: 70_000,
        op: 'all_reduce',
        state: 'completed',
        frames: [{ name: 'train_step', filename: '/job/träin.py', line: 88 }],
      },
    ],
  ],
};

const python = (code: string): Buffer => spawnSync('python3', ['-c', code]).stdout;

describe('the pickle reader', () => {
  it.each([2, 3, 4, 5])('reads what Python writes in protocol %i', (protocol) => {
    const dump = dumpOf(MADE_UP, 0);
    const read = readDump('d', 0, pickled(dump, protocol));
    expect(read).toEqual(readDump('d', 0, Buffer.from(JSON.stringify(dump))));
    expect(read.calls.map(({ kind, seq, state }) => [seq, kind.op, state])).toEqual([
      [300, '_all_gather_base', 'scheduled'],
      [70_000, 'all_reduce', 'completed'],
    ]);
    expect(read.calls[1]!.kind.frames).toEqual([{ name: 'train_step', file: '/job/träin.py', line: 88 }]);
    expect(read.calls[0]!.createdNs).toBe(STARTED);
  });

  it('reads numbers of all widths as Python means them', () => {
    const numbers = [0, 255, 256, 65_535, 65_536, -1, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 0.5];
    const bytes = python(
      `import pickle,sys; sys.stdout.buffer.write(pickle.dumps([${numbers.join(',')}, 2**62, -2**63, 2**64-1, None, True], 2))`,
    );
    expect(readPickle(bytes)).toEqual([...numbers, 2n ** 62n, -(2n ** 63n), 2n ** 64n - 1n, null, true]);
  });

  it('refuses code, and does not run it', () => {
    const bytes = python(
      `import pickle,sys,os
class Evil:
    def __reduce__(self): return (os.system, ('exit 3',))
sys.stdout.buffer.write(pickle.dumps({'version': Evil()}, 2))`,
    );
    expect(() => readPickle(bytes)).toThrow(
      /opcode 0x63, which is not plain data and is not run, at byte \d+/,
    );
    expect(() => readDump('d', 0, bytes)).toThrow(DumpError);
  });

  it('has an error for a file that is cut at any byte, or has any byte changed', () => {
    const bytes = pickled(dumpOf(MADE_UP, 0));
    for (let end = 1; end < bytes.length; end++)
      expect(() => readPickle(bytes.subarray(0, end))).toThrow(PickleError);
    let failures = 0;
    for (let at = 1; at < bytes.length; at++)
      for (const flip of [0x01, 0x20, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = changed[at]! ^ flip;
        try {
          readDump('d', 0, changed);
        } catch (error) {
          if (!(error instanceof DumpError)) throw error;
          failures++;
        }
      }
    expect(failures).toBeGreaterThan(bytes.length / 4);
  });

  it('of a key that is there twice, the last one counts, also in a large dict; __proto__ is a key like any other', () => {
    const bytes = python(
      `import pickle,sys
many = {'k%d' % i: i for i in range(5000)}
sys.stdout.buffer.write(pickle.dumps([{'__proto__': 7}, many], 2))`,
    );
    const [one, many] = readPickle(bytes) as PickleDict[];
    expect([one!.get('__proto__'), one!.get('toString'), many!.get('k4999')]).toEqual([7, undefined, 4999]);
    const twice = Buffer.from([0x80, 2, 0x7d, 0x28, 0x8c, 1, 97, 0x4b, 1, 0x8c, 1, 97, 0x4b, 2, 0x75, 0x2e]);
    expect((readPickle(twice) as PickleDict).get('a')).toBe(2);
  });

  it('does not take lengths on trust', () => {
    const long = Buffer.from([0x80, 2, 0x58, 0xff, 0xff, 0xff, 0xff, 0x61, 0x2e]);
    expect(() => readPickle(long)).toThrow('is cut short at byte 2');
    const huge = Buffer.from([0x80, 4, 0x8d, ...Array<number>(8).fill(0xff), 0x2e]);
    expect(() => readPickle(huge)).toThrow('is cut short');
  });

  it('reads a list that is named a million times once', () => {
    const bytes = python(
      `import pickle,sys
frame = {'name': 'f', 'filename': 'x', 'line': 1}
frames = [frame] * 2000
entry = {'record_id': 1, 'pg_id': 0, 'process_group': ('TP', ''), 'collective_seq_id': 1, 'profiling_name': 'nccl:all_reduce', 'state': 'scheduled', 'frames': frames}
sys.stdout.buffer.write(pickle.dumps({'version': '2.9', 'pg_config': {'TP': {'name': 'TP', 'desc': '', 'ranks': '[0]'}}, 'entries': [dict(entry, record_id=i) for i in range(500)]}, 2))`,
    );
    const { calls } = readDump('d', 0, bytes);
    expect(calls).toHaveLength(500);
    expect(new Set(calls.map(({ kind }) => kind.frames)).size).toBe(1);
  });

  const group = (name: string, ranks: string) => ({ name, desc: '', ranks });
  const entry = { record_id: 1, pg_id: 0, process_group: ['0', ''], collective_seq_id: 1 };
  const call = { ...entry, profiling_name: 'nccl:all_reduce', state: 'scheduled' };
  const dump = (pg_config: object, entries: readonly object[] = []): Buffer =>
    Buffer.from(JSON.stringify({ version: '2.9', pg_config, entries }));
  const many = (count: number, ranks: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [i, group(String(i), ranks)]));

  it('reads a text of ranks that many groups have once', () => {
    const { groups } = readDump('d', 0, dump(many(2000, '[0, 1, 2]')));
    expect(new Set(groups.map(({ ranks }) => ranks)).size).toBe(1);
  });

  it('reads each record once, and says what is left out', () => {
    const notes: string[] = [];
    const bytes = dump(many(1, '[0]'), Array<object>(1000).fill(call));
    expect(readDump('d', 0, bytes, (note) => notes.push(note)).calls).toHaveLength(1);
    expect(notes).toEqual(['999 of its entries are left out, because their record_id is that of another']);
  });

  it.each([
    ['groups', dump(many(2049, '[0]')), 'has more than 2048 process groups'],
    ['ranks', dump(many(2048, JSON.stringify([...Array(513).keys()]))), 'has more than 1048576 ranks'],
    [
      'letters',
      dump({}, [{ ...call, profiling_name: 'x'.repeat(5000) }]),
      'has 5000 letters where profiling_name',
    ],
  ])('refuses more %s than a job has', (_, bytes, why) => {
    expect(() => readDump('d', 0, bytes)).toThrow(why);
  });

  it.each([
    ['', 'is neither a pickle nor JSON'],
    ['{}', 'has no text where version should be'],
    ['{"version":"3.0"}', 'has version 3.0; 2.x is read'],
    ['{"version":"2.9","entries":7}', 'has no list where entries should be'],
    [
      '{"version":"2.9","entries":[{"process_group":["TP",""],"state":"lost"}]}',
      'has an unknown state: lost',
    ],
  ])('says what is wrong with %j', (text, why) => {
    expect(() => readDump('d', 0, Buffer.from(text))).toThrow(why);
  });
});
