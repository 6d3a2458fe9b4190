/** A file of another tool is known by its name at once, by every command that takes inputs: what it is, and what to do with it. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { knownFile } from '../../src/foreign/known_files.js';
import { dumpOf, pickled } from '../support/made_up/flight_dumps.js';
import { runHere } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();

const dump = dumpOf({ groups: { 0: [0] }, calls: [[{ group: '0', seq: 1, op: 'all_reduce' }]] }, 0);
const inspector = (version: string): string =>
  `{"header":{"id":"0x7f8c","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"${version}","pid":4},"coll_perf":{"coll":"AllReduce"}}\n`;
const devices = Array.from({ length: 8 }, (_, id) => ({ id, name: 'NVIDIA H100', text: 'x'.repeat(700) }));
const kineto = JSON.stringify({
  ...{ schemaVersion: 1, deviceProperties: devices },
  ...{ distributedInfo: { backend: 'nccl', rank: 3 }, traceEvents: [] },
});
/** As since PyTorch 2.2, with the process groups. Tools that write it anew put things before, or have the events first. */
const groups = JSON.stringify({
  ...{ schemaVersion: 1, deviceProperties: devices },
  distributedInfo: {
    backend: 'nccl',
    pg_config: [{ pg_name: '0', pg_desc: 'default_pg', ranks: [0, 1] }],
    ...{ pg_count: 1, nccl_version: '2.27.3', rank: 5, world_size: 8 },
  },
  traceEvents: [],
});
const operators = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1}';
const far = `{"metadata": ${JSON.stringify(Array.from({ length: 3000 }, (_, i) => i * i))}, ${operators.slice(1)}`;
const step = '{"name": "AllReduce", "cat": "COLL", "ph": "b", "id": 0, "pid": 7, "tid": 1, "ts": 1.5}';

/** Name, content, what it is called, what to do. */
const FILES: readonly (readonly [string, string | Uint8Array, string, string])[] = [
  ['k.json', kineto, "a trace of PyTorch's profiler (Kineto) of rank 3", 'merge RUN --with FILE'],
  [
    'k.json.gz',
    gzipSync(kineto),
    "PyTorch's profiler (Kineto) of rank 3, packed by gzip",
    'merge RUN --with FILE',
  ],
  ['g.json', groups, "a trace of PyTorch's profiler (Kineto) of rank 5", 'merge RUN --with FILE'],
  ['o.json', operators, "a trace of PyTorch's profiler (Kineto)", '--with RANK=FILE'],
  [
    'far.json.gz',
    gzipSync(far),
    "a trace of PyTorch's profiler (Kineto), packed by gzip",
    '--with RANK=FILE',
  ],
  ['c.json', '{"traceEvents": [{"ph": "X"}]}', 'a trace in the JSON format of Chrome', 'ui.perfetto.dev'],
  ['a.json', '[{"name": "f", "ph": "X"}]', 'a trace in the JSON format of Chrome', 'ui.perfetto.dev'],
  ['r.nsys-rep', 'anything', 'a report of Nsight Systems', 'nsys export --type sqlite'],
  [
    'n.sqlite',
    'SQLite format 3\0 CUPTI_ACTIVITY_KIND_KERNEL',
    'an SQLite export of Nsight Systems',
    'merge RUN --with FILE',
  ],
  ...['v4.0', 'v4.1', 'v4.2', 'v4.3'].map(
    (one) =>
      ['i.log', inspector(one), `output of NCCL Inspector (${one})`, 'nccl-trace plugin-path'] as const,
  ),
  ['e.json', `[\n${step},\n`, "output of NCCL's example profiler plugin", 'ui.perfetto.dev'],
  [
    'comma.json',
    '{"args":{"size":2},"cat":"COLL","comm_hash":"0x58ae","dur":1,"name":"all_reduce","ph":"X"}',
    "output of Google's CoMMA",
    'json-format.md',
  ],
  [
    'l.jsonl',
    '{"header":{},"coll_perf":{"decomposition":{"n": 1}}}',
    "RCCL's accl profiler",
    'accl_report.py',
  ],
  ['f_0', pickled(dump), "a dump of PyTorch's Flight Recorder", '--flight-recorder'],
  ['f_0.json', JSON.stringify(dump), "a dump of PyTorch's Flight Recorder (JSON)", '--flight-recorder'],
  ['t.pftrace', Buffer.from([0x0a, 2, 8, 1]), 'a Perfetto trace', 'nccl-trace open'],
  [
    'ras.json',
    '{"nccl_version": "2.30.7", "communicators_count": 2, "communicators": [',
    "an answer of NCCL's RAS",
    '--ras',
  ],
  ['ras.txt', 'NCCL version 2.30.7\n\nJob summary\n', "an answer of NCCL's RAS as text", 'ncclras -f json'],
];

describe('a file of another tool', () => {
  it.each(FILES)('%s', (name, content, what, advice) => {
    const known = knownFile(name, Buffer.from(content));
    expect(known?.what).toContain(what);
    expect(known?.advice).toContain(advice);
    // The first bytes alone, and damaged ones, are no crash.
    for (const end of [0, 1, 7, 20]) knownFile(name, Buffer.from(content).subarray(0, end));
  });

  it('is called by its name by each command that takes inputs, in one line', async () => {
    const file = path.join(folder, 'kineto.json');
    writeFileSync(file, kineto);
    const is = `nccl-trace: ${file}: is a trace of PyTorch's profiler (Kineto) of rank 3, not a `;
    const output = ['-o', path.join(folder, 'out')];
    const commands = [
      ...['inspect', 'clocks', 'collectives', 'links', 'ranks', 'waits', 'text', 'open'].map((one) => [one]),
      ...[
        ['merge', ...output],
        ['scan', ...output],
        ['report', '--json'],
        ['diff', file],
      ],
    ];
    for (const [command = '', ...more] of commands) {
      const { code, err } = await runHere(root, command, file, ...more);
      expect([command, code, err.split('\n')[0]]).toEqual([command, 3, expect.stringContaining(is)]);
      expect(err).toContain('--with FILE');
    }
  });

  it('is named where a folder holds it and no rank file', async () => {
    const inside = path.join(folder, 'traces');
    mkdirSync(inside);
    writeFileSync(path.join(inside, 'kineto.json'), kineto);
    const { code, err } = await runHere(root, 'inspect', inside);
    expect([code, err]).toEqual([3, expect.stringContaining("kineto.json is a trace of PyTorch's profiler")]);
    const dumps = await runHere(root, 'inspect', '--flight-recorder', inside);
    expect([dumps.code, dumps.err]).toEqual([2, expect.stringContaining('holds no dump')]);
  });
});
