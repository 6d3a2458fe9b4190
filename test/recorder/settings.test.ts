// Settings in the environment: what is recorded where, and what NCCL's log says.

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { runRaw } from '../loopback/loopback.js';
import { PLUGIN, inNewFolder, run } from './programs.js';

interface Said {
  readonly mask: number;
  readonly context: string;
  readonly warnings: string[];
  readonly infos: string[];
  /** Relative to the folder. */
  readonly files: string[];
}

/** With the first, KernelCh harms no job under NCCL 2.29 and 2.30. Rings of the usual size take twenty times as long to make as all else. */
const SAFE = { NCCL_ALLGATHERV_ENABLE: '0', NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_RING_MB: '1' };

async function announce(env: Record<string, string>, table = 'ncclProfiler_v6'): Promise<Said> {
  return inNewFolder(async (folder) => {
    mkdirSync(folder);
    const { stdout } = await run('announce', [PLUGIN, table], {
      env: { NCCL_TRACE_DIR: folder, ...SAFE, ...env },
      cwd: folder,
    });
    const after = (word: string) =>
      stdout
        .split('\n')
        .filter((line) => line.startsWith(`${word} `))
        .map((line) => line.slice(word.length + 1).replaceAll(folder, 'DIR'));
    const files = readdirSync(folder, { recursive: true });
    return {
      mask: Number(after('mask')[0]),
      context: after('context')[0] ?? '',
      warnings: after('warn'),
      infos: after('info'),
      files: files.map(String).filter((name) => name.endsWith('.bin')),
    };
  });
}

const DEFAULT = 0xf1f;

test.each([
  [{}, DEFAULT],
  [{ NCCL_TRACE_EVENTS: 'default' }, DEFAULT],
  [{ NCCL_TRACE_EVENTS: 'all' }, 0x7fff],
  [{ NCCL_TRACE_EVENTS: 'coll' }, 0xf07],
  [{ NCCL_TRACE_EVENTS: 'Coll' }, 0x2],
  [{ NCCL_TRACE_EVENTS: 'Coll,proxyop,KernelCh' }, 0x4a],
  [{ NCCL_PROFILE_EVENT_MASK: '70' }, 70],
  [{ NCCL_PROFILE_EVENT_MASK: '0xFDF' }, 0xfdf],
  [{ NCCL_PROFILE_EVENT_MASK: '-1' }, 0x7fff],
  [{ NCCL_PROFILE_EVENT_MASK: '70', NCCL_TRACE_EVENTS: 'coll' }, 0xf07],
])('%o asks for mask %i', async (env, mask) => {
  const said = await announce(env);
  expect(said).toMatchObject({ mask, context: 'given', warnings: [] });
});

const STREAM = { NCCL_TRACE_MODE: 'stream' };

test.each([
  [STREAM, 0x7fff],
  [{ ...STREAM, NCCL_TRACE_EVENTS: 'default' }, 0x7fff],
  [{ ...STREAM, NCCL_TRACE_EVENTS: 'coll' }, 0xf07],
  [{ ...STREAM, NCCL_PROFILE_EVENT_MASK: '70' }, 70],
  [{ NCCL_TRACE_MODE: 'flight', NCCL_TRACE_MAX_MB: '100' }, DEFAULT],
])('%o asks for mask %i', async (env, mask) => {
  const said = await announce(env);
  expect(said).toMatchObject({ mask, context: 'given', warnings: [] });
});

describe('KernelCh where it can harm the job', () => {
  const harms = [
    ['ncclProfiler_v4', 0x80, /NCCL 2\.26 and 2\.27 can fail a job/],
    [
      'ncclProfiler_v6',
      0x7f80,
      /ncclCommDestroy of NCCL 2\.29 and 2\.30 can wait for ever .* NCCL_ALLGATHERV_ENABLE=0/,
    ],
  ] as const;

  test.each(harms)('%s: stream mode leaves it out', async (table, others) => {
    const said = await announce({ ...STREAM, NCCL_ALLGATHERV_ENABLE: '' }, table);
    expect(said).toMatchObject({ mask: 0x3f | others, warnings: [] });
    // In the file's header, too: readers must know that it is not recorded.
    expect(said.infos[0]).toContain(', mask 0xffbf, ');
  });

  test.each(harms)('%s: who names it gets it, and a warning', async (table, others, warning) => {
    const said = await announce({ NCCL_TRACE_EVENTS: 'all', NCCL_ALLGATHERV_ENABLE: '1' }, table);
    expect(said.mask).toBe(0x7f | others);
    expect(said.warnings).toEqual([expect.stringMatching(warning)]);
  });

  test('v5 (NCCL 2.28) and v7 (2.31) can stand it', async () => {
    for (const [table, mask] of [
      ['ncclProfiler_v5', 0xfff],
      ['ncclProfiler_v7', 0xffff],
    ] as const) {
      const said = await announce({ ...STREAM, NCCL_ALLGATHERV_ENABLE: '' }, table);
      expect(said).toMatchObject({ mask, warnings: [] });
    }
  });
});

test.each([
  [{}, 'up to 4096 MB'],
  [{ NCCL_TRACE_MAX_MB: '100.5' }, 'up to 100 MB'],
  [{ NCCL_TRACE_MAX_MB: '0' }, 'without limit'],
])('stream mode says its limit: %o', async (env, limit) => {
  const { infos } = await announce({ ...STREAM, RANK: '3', ...env });
  expect(infos).toHaveLength(1);
  expect(infos[0]).toMatch(
    /^nccl-trace: recording to DIR\/rank00003\.bin, mode stream, mask 0xffff, \d+ bytes and (raw|zstd) chunks /,
  );
  expect(infos[0]).toContain(` chunks ${limit}, rings in `);
});

test.each([
  ['1', '1', '5'],
  ['4.9', '1', '5'],
  ['1', '0.25', '5'],
])(
  'NCCL_TRACE_MAX_MB=%s with %s MB of rings becomes the least that works: %s',
  async (limit, rings, least) => {
    const env = { ...STREAM, NCCL_TRACE_RING_MB: rings, NCCL_TRACE_MAX_MB: limit };
    const { infos, warnings } = await announce(env);
    expect(warnings.filter((line) => line.includes('MAX_MB'))).toEqual([
      `nccl-trace: NCCL_TRACE_MAX_MB=${limit} is less than NCCL_TRACE_RING_MB + 4, the least that works; using ${least}`,
    ]);
    // As it is: 0.25 and 4 are less than 5.
    expect(infos[0]).toContain(` chunks up to ${rings === '0.25' ? 4 : least} MB`);
  },
);

test('v5 knows no copy engine', async () => {
  expect((await announce({ NCCL_TRACE_EVENTS: 'all' }, 'ncclProfiler_v5')).mask).toBe(0xfff);
});

test.each([
  [1, '2.23.4'],
  [3, '2.26.2'],
  [4, '2.27.3'],
  [6, '2.30.7'],
])('the file says which NCCL called: interface v%i, %s', async (abi, version) => {
  await inNewFolder(async (folder) => {
    const env = { NCCL_PROFILER_PLUGIN: PLUGIN, NCCL_TRACE_DIR: folder, ...SAFE };
    await runRaw(`--ranks 2 --abi ${abi} --iterations 1 --ops allreduce:4K`, env);
    expect(openRankFile(join(folder, 'rank00000.bin')).header.ncclVersion).toBe(version);
  });
});

test('a program that exports no version: not known', async () => {
  await inNewFolder(async (folder) => {
    mkdirSync(folder);
    await run('announce', [PLUGIN, 'ncclProfiler_v6'], {
      env: { NCCL_TRACE_DIR: folder, ...SAFE, RANK: '0' },
      cwd: folder,
    });
    expect(openRankFile(join(folder, 'rank00000.bin')).header.ncclVersion).toBeNull();
  });
});

test('one line says whether it records', async () => {
  const { infos, files } = await announce({ RANK: '3' });
  expect(files).toEqual(['rank00003.bin']);
  expect(infos).toHaveLength(1);
  expect(infos[0]).toMatch(
    /^nccl-trace: recording to DIR\/rank00003\.bin, mode flight, mask 0xf1f, \d+ bytes, rings in (the file|memory, .*)$/,
  );
});

test('nothing asked for: nothing done', async () => {
  const said = await announce({ NCCL_TRACE_EVENTS: 'none' });
  expect(said).toMatchObject({ mask: 0, context: 'none', warnings: [], files: [] });
  expect(said.infos).toEqual([
    'nccl-trace: recording nothing, as asked (NCCL_TRACE_EVENTS or NCCL_PROFILE_EVENT_MASK)',
  ]);
});

/** Values that cannot be, of several names at a time. */
const WRONG: readonly Record<string, string>[] = [
  {
    ...{ NCCL_TRACE_RING_MB: '-1', NCCL_TRACE_MODE: 'x', NCCL_TRACE_MAX_MB: '1' },
    ...{ NCCL_TRACE_EVENTS: 'Coll,Bogus', NCCL_TRACE_SAMPLE: '0', NCCL_TRACE_KEEP: '0' },
    ...{ NCCL_TRACE_RING_DIR: 'shm', NCCL_TRACE_DIR: `/${'x'.repeat(5000)}` },
  },
  {
    ...{ NCCL_TRACE_RING_MB: '64MB', NCCL_TRACE_MAX_MB: '64MB', NCCL_TRACE_EVENTS: ',' },
    ...{ NCCL_TRACE_SAMPLE: '1.5', NCCL_TRACE_KEEP: '-1', NCCL_TRACE_RING_DIR: `/${'x'.repeat(127)}` },
  },
  {
    ...{ NCCL_TRACE_RING_MB: '0', NCCL_TRACE_MAX_MB: '-1' },
    ...{ NCCL_PROFILE_EVENT_MASK: '-2', NCCL_TRACE_KEEP: '1.5' },
  },
  { NCCL_TRACE_RING_MB: '9'.repeat(20), NCCL_PROFILE_EVENT_MASK: '0x', NCCL_TRACE_KEEP: '5XB' },
  { NCCL_TRACE_KEEP: '500G' },
  { NCCL_TRACE_KEEP: '99999999999TB' },
  { NCCL_TRACE_KEEP: '50' }, // and the run has no name
];

test.each(WRONG.map((wrong) => [wrong]))('%j: each is one warning and the default', async (wrong) => {
  const { warnings, mask, files } = await announce(wrong);
  // On a machine that is busy enough another warning may say that the file was late.
  for (const name of Object.keys(wrong))
    expect(
      warnings.filter((line) => line.startsWith(`nccl-trace: ${name}`)),
      name,
    ).toHaveLength(1);
  expect(mask).toBe(DEFAULT);
  expect(files).toHaveLength(1);
});

test.each([
  [{ NCCL_TRACE_KEEP: '50' }, 'NCCL_TRACE_KEEP=50'],
  [{ NCCL_TRACE_KEEP: '1.5TiB' }, 'NCCL_TRACE_KEEP=1.5TiB'],
  [
    { NCCL_TRACE_KEEP: '500GB', NCCL_TRACE_PRUNE_EVEN: 'young,unclosed' },
    'NCCL_TRACE_KEEP=500GB, NCCL_TRACE_PRUNE_EVEN=young,unclosed',
  ],
])('%o: a line says what is removed', async (env, line) => {
  const { infos, warnings } = await announce({ ...env, NCCL_TRACE_RUN_ID: 'mine' });
  expect(warnings).toEqual([]);
  expect(infos[1]).toBe(`nccl-trace: removing old runs from DIR: ${line}`);
});

test('NCCL_TRACE_PRUNE_EVEN with another word is a warning', async () => {
  const env = { NCCL_TRACE_KEEP: '50', NCCL_TRACE_RUN_ID: 'mine', NCCL_TRACE_PRUNE_EVEN: 'young,hung' };
  const { warnings } = await announce(env);
  expect(warnings).toEqual([
    'nccl-trace: NCCL_TRACE_PRUNE_EVEN=young,hung: want young, unclosed or both; removing neither',
  ]);
});

test.each([
  [{ RANK: '12', WORLD_SIZE: '16' }, /^rank00012\.bin$/],
  [{ OMPI_COMM_WORLD_RANK: '2' }, /^rank00002\.bin$/],
  [{ PMI_RANK: '2' }, /^rank00002\.bin$/],
  [{ PMIX_RANK: '2' }, /^rank00002\.bin$/],
  [{ SLURM_PROCID: '2', RANK: 'x' }, /^rank00002\.bin$/],
  [{}, /^rank-.+-\d+\.bin$/],
  [{ RANK: '0', NCCL_TRACE_RUN_ID: 'mine', SLURM_JOB_ID: '7' }, /^mine\/rank00000\.bin$/],
  [{ RANK: '0', SLURM_JOB_ID: '7', SLURM_RESTART_COUNT: '0' }, /^7\/rank00000\.bin$/],
  [{ RANK: '0', SLURM_JOB_ID: '7', SLURM_RESTART_COUNT: '2' }, /^7\.2\/rank00000\.bin$/],
  [{ RANK: '0', TORCHELASTIC_RUN_ID: 'abc', TORCHELASTIC_RESTART_COUNT: '1' }, /^abc\.1\/rank00000\.bin$/],
  [{ RANK: '0', TORCHELASTIC_RUN_ID: 'none' }, /^rank00000\.bin$/],
  [{ RANK: '0', NCCL_TRACE_RUN_ID: '../../etc' }, /^_\._\.\._etc\/rank00000\.bin$/],
])('%o names its file', async (env, name) => {
  const { files } = await announce(env);
  expect(files).toHaveLength(1);
  expect(files[0]).toMatch(name);
});
