/** The scenarios of `demo` in which something goes wrong. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const view = (name: string) => viewTrace(readFileSync(path.join(folder, name)), { emptySlices: 'fine' });

// Where other tests take the CPUs, waits for a CPU may be longer than the 20 ms.
it('demo --scenario straggler says that the rank is slow', { retry: 3 }, async () => {
  const { code, err } = await runProgram(folder, 'demo', '-s', 'straggler', '-f');
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toMatch(/^recording 8 ranks: rank 7 begins every iteration 100 ms late\n[^]*\nSLOW {2}rank 7 /);
});

it('demo --scenario hang shows the waits of every rank', async () => {
  const { code, err } = await runProgram(
    folder,
    'demo',
    '-r',
    '4',
    '-s',
    'hang',
    '-o',
    'hang.pftrace',
    '-k',
    'kept',
  );
  expect({ code, err }).toMatchObject({ code: 0 });
  // Which of those under way it names first, and what else each rank had begun, is a matter of the moment. The one that the
  // rank died in is certain: a ring cannot be halfway on one rank before all are in it.
  expect(err).toMatch(
    /\nHUNG(?:, then KILLED)? {2}AllReduce seq \d+ on (tp|world) \(4 ranks\)(: .*\n {2}stuck: +| {2})since /,
  );
  expect(err).toMatch(/\n {2}not finished: /);
  expect(err).toMatch(/AllReduce seq \d+ on tp\b/);
  expect(err).toMatch(/not closed: rank 0-3/);
  expect(view('hang.pftrace').problems).toEqual([]);
  const kept = readdirSync(path.join(folder, 'kept', 'demo'));
  // Beside them may lie what a survivor saved of the killed one.
  expect(kept.filter((name) => name.endsWith('.bin'))).toHaveLength(4);
});
