/** `demo` and `plugin-path`: what a new user runs first. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../support/program/command_line.js';
import { runProgram } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const view = (name: string) => viewTrace(readFileSync(path.join(folder, name)), { emptySlices: 'fine' });

it('demo records 8 ranks, merges them and says where to open the trace', async () => {
  const { code, err } = await runProgram(folder, 'demo');
  expect({ code, err }).toMatchObject({ code: 0 });
  // On a busy machine a rank really may be slow; nothing else may be said of it.
  expect(err).toMatch(/^recording 8 ranks: nothing goes wrong\n8 ranks, \d+ records/);
  expect(err).toMatch(/^(HEALTHY {2}everything that began also ended|SLOW)/m);
  expect(err).toMatch(/\nnext: nccl-trace open demo\.pftrace\n$/);
  const { problems, processes, slices, flows } = view('demo.pftrace');
  expect(problems).toEqual([]);
  expect(processes.map(({ pid }) => pid - 1_000_000)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(slices.filter(({ dur }) => dur === -1n)).toEqual([]);
  expect(flows.length).toBeGreaterThan(1000);
  expect(readdirSync(folder)).toEqual(['demo.pftrace']);
});

it.each([
  [['demo', '-r', '1'], 2, /from 2 to 64/],
  [['demo', '-s', 'happy'], 2, /healthy, straggler, hang/],
  [['demo', '-o', 'no/demo.pftrace'], 4, /there is no directory/],
])('%j is one clear sentence', async (args, expected, sentence) => {
  const { code, err } = await runHere(folder, ...args);
  expect(code).toBe(expected);
  expect(err).toMatch(sentence);
  expect(readdirSync(folder)).toEqual([]);
});

it('plugin-path prints the value for NCCL_PROFILER_PLUGIN', async () => {
  const { code, out } = await runProgram(folder, 'plugin-path');
  const line = out.toString();
  expect(code).toBe(0);
  expect(line).toMatch(/^\/.*\/libnccl-profiler-trace\.so\n$/);
  expect(existsSync(line.trim())).toBe(true);
  expect(Buffer.byteLength(line.trim())).toBeLessThan(255);
});
