/**
 * Other plugins behind ours (NCCL_TRACE_CHAIN): what each writes down must be what it writes down alone, and whatever it does
 * wrong may cost itself. native/test/strict is the other plugin.
 */

import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { recorderOf } from '../../src/report/run_report.js';
import { builtNative } from '../support/jobs/native.js';
import { runRaw } from '../loopback/loopback.js';
import { inNewFolder, PLUGIN } from './programs.js';

const VERSIONS = [1, 2, 3, 4, 5, 6, 7] as const;
const strict = await builtNative(...VERSIONS.map((version) => `libnccl-profiler-strict-v${version}.so`));
const plugin = (version: number): string => strict[version - 1]!;

const WORK = 'allreduce:128K,group{send+recv:64K},graph{allreduce:16K+allgather:32K}*3,reduce:8K';
const CHEAP = '--ranks 2 --iterations 2 --seed 7 --timeout 20';
/** Rings of the usual size take ten times as long to make as the job takes. */
const SMALL = { NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_RING_MB: '1' };

interface Case {
  readonly abi: number;
  readonly args?: string;
  readonly env?: Record<string, string>;
}

/** Runs a job with `env`, and returns what the other plugin wrote, by file. */
async function logOf(folder: string, { abi, args = '', env = {} }: Case): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const ops = args.includes('--ops') ? '' : `--ops ${WORK}`;
  const exit = await runRaw(`${CHEAP} --abi ${abi} ${ops} ${args}`, {
    ...SMALL,
    NCCL_TRACE_DIR: join(folder, 'recorded'),
    STRICT_LOG: folder,
    ...env,
  });
  expect(exit.stderr).not.toContain('forgotten');
  expect(exit.code, exit.stderr).toBe(0);
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  return files.sort().map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`);
}

const alone = (folder: string, version: number, of: Case): Promise<string[]> =>
  logOf(join(folder, 'alone'), { ...of, env: { ...of.env, NCCL_PROFILER_PLUGIN: plugin(version) } });

const chained = (folder: string, versions: readonly number[], of: Case): Promise<string[]> =>
  logOf(join(folder, 'chained'), {
    ...of,
    env: { ...of.env, NCCL_PROFILER_PLUGIN: PLUGIN, NCCL_TRACE_CHAIN: versions.map(plugin).join(':') },
  });

/** All see behind ours what each sees alone. `!` is a broken promise of NCCL (strict_plugin.cc). */
async function expectEqual(versions: readonly number[], of: Case): Promise<void> {
  await inNewFolder(async (folder) => {
    const each = await Promise.all(versions.map((version) => alone(join(folder, `${version}`), version, of)));
    for (const expected of each) {
      expect(expected).toHaveLength((of.args ?? '').includes('--ranks 3') ? 3 : 2);
      expect(expected.join('')).toContain('ProxyStep');
      expect(expected.join('\n').match(/^! .*/gm)).toBeNull();
    }
    expect(await chained(folder, versions, of)).toEqual(each.flat().sort());
    if (versions.length === 1) return;
    const { header } = openRankFile(join(folder, 'chained/recorded/rank00000.bin'));
    const names = versions.map((version) => `libnccl-profiler-strict-v${version}.so(v${version})`);
    expect(recorderOf(header)).toBe(`${header.recorderVersion} with ${names.join(':')}`);
  });
}

// At most three in a chain. NCCL counts collectives of graphs only with KernelCh, whoever asks for it; those before v3 cannot.
const GROUPS = [[2, 1], [5, 4, 3], [7, 6]]; // prettier-ignore
const BESIDE = VERSIONS.flatMap((abi) =>
  GROUPS.map((group) => [group.filter((version) => version <= abi), abi] as const),
).filter(([group]) => group.length > 0);

test.for(BESIDE)('plugins of %j see under an NCCL of v%i what they see alone', ([versions, abi]) =>
  expectEqual(versions, { abi, env: { NCCL_TRACE_EVENTS: versions.includes(1) ? 'default' : 'all' } }),
);

const SCENES: Record<string, readonly [version: number, of: Case]> = {
  'sends of another process': [6, { abi: 6, args: '--ranks 3 --pxn 0:1' }],
  'sends of another process, as v4': [4, { abi: 6, args: '--ranks 3 --pxn 0:1' }],
  'a thread that launches': [7, { abi: 7, args: '--non-blocking' }],
  'several communicators, and plans': [6, { abi: 6, args: '--groups tp=2 --plan-tasks 2' }],
  'events of the network': [5, { abi: 6, args: '--net-events ib:2' }],
  'communicators that outlive the world': [6, { abi: 6, args: '--groups tp=2 --exit parent-first' }],
  'a process that leaves': [6, { abi: 6, args: '--exit leave' }],
  'symmetric memory and tags': [
    7,
    { abi: 7, args: '--symmetric --user-tag 7 --ops allgather:64K,allreduce:64K,group{send+recv:4K}' },
  ],
  'copy engines, as v6': [6, { abi: 7, args: '--ce --ops allgather:64K,allreduce:64K' }],
  'a recorder that samples': [6, { abi: 6, env: { NCCL_TRACE_SAMPLE: '3', NCCL_TRACE_EVENTS: 'all' } }],
  'a recorder that asks for less': [6, { abi: 6, env: { NCCL_TRACE_EVENTS: 'Coll,KernelCh' } }],
  'a recorder that records nothing': [6, { abi: 6, env: { NCCL_TRACE_EVENTS: 'none' } }],
  'few own events': [6, { abi: 6, env: { STRICT_MASK: '0x50', NCCL_TRACE_EVENTS: 'all' } }],
  'some handles': [6, { abi: 6, env: { STRICT_DO: 'some-null-handles' } }],
  'some handles, before v5': [4, { abi: 4, env: { STRICT_DO: 'some-null-handles' } }],
  'some handles, before v3': [2, { abi: 2, env: { STRICT_DO: 'some-null-handles' } }],
  'errors from every call': [6, { abi: 6, env: { STRICT_DO: 'errors' } }],
  'a slow init': [6, { abi: 6, env: { STRICT_DO: 'slow-init' } }],
  'no contexts': [6, { abi: 6, env: { STRICT_DO: 'null-context' } }],
};

test.for(Object.entries(SCENES))('%s: as alone', async ([, [version, of]]) => {
  await expectEqual([version], of);
});

/** What goes wrong, the variable, what the plugin does, and the line. The recorder records on. */
const LEFT_OUT: Record<string, readonly [chain: (folder: string) => string, does: string, line: string]> = {
  'a wrong path': [() => '/nowhere/x.so', '', '/nowhere/x.so is left out: /nowhere/x.so: cannot open'],
  'a library without a table': [
    () => 'libm.so.6',
    '',
    'libm.so.6 is left out: it has no ncclProfiler_v table',
  ],
  'a table that is too new': [() => plugin(7), '', 'it has no ncclProfiler_v table that this NCCL knows'],
  'the recorder itself': [() => PLUGIN, '', 'is left out: it is nccl-trace itself'],
  'a copy of the recorder': [copyOf, '', 'copy.so is left out: it is nccl-trace itself'],
  'one named twice': [() => `${plugin(6)}:${plugin(6)}`, '', 'is left out: it is named twice'],
  'a cycle': [() => plugin(6), 'cycle', 'is left out: it calls nccl-trace itself'],
  'an error of init': [() => plugin(6), 'init-error', 'is left out: its init failed with error 3'],
  'an error of the second init': [() => plugin(6), 'second-init-error', 'its init failed with error 3'],
  'an init that asks for nothing': [() => plugin(6), 'refuse', 'is left out: its init asked for nothing'],
  'a table without finalize': [() => plugin(6), 'no-finalize', 'is left out: its table lacks a function'],
  'too many': [() => [6, 5, 4, 3].map(plugin).join(':'), '', '-v3.so is left out: at most 3 plugins'],
};

function copyOf(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, 'copy.so');
  copyFileSync(PLUGIN, copy);
  return copy;
}

test.for(Object.entries(LEFT_OUT))('%s: one line, and no harm', async ([, [chain, does, line]]) => {
  await inNewFolder(async (folder) => {
    const recorded = join(folder, 'recorded');
    const exit = await runRaw(`${CHEAP} --ops ${WORK} --groups tp=2`, {
      ...SMALL,
      NCCL_DEBUG: 'WARN',
      NCCL_PROFILER_PLUGIN: PLUGIN,
      NCCL_TRACE_CHAIN: chain(folder),
      NCCL_TRACE_DIR: recorded,
      STRICT_DO: does,
    });
    expect(exit.code, exit.stderr).toBe(0);
    const lines = (exit.stderr + exit.stdout).split('\n').filter((each) => each.includes('NCCL_TRACE_CHAIN'));
    expect(lines).toHaveLength(2);
    for (const each of lines) expect(each).toContain(line);
    const { rings } = openRankFile(join(recorded, 'rank00000.bin'));
    expect(rings.reduce((sum, { records }) => sum + records.kind.length, 0)).toBeGreaterThan(100);
  });
});
