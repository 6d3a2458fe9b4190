/** `query`: each query of docs/queries.md, its answers against what the commands say, and what a query must not reach. */

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { read } from '../documents.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();

type Rows = Record<string, string | number | null>[];
const run = (...args: string[]): Promise<TextResult> => runHere(root, ...args);
async function rows(...args: string[]): Promise<Rows> {
  const { code, out, err } = await run(...args, '--json', '-q');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Rows;
}
const query = (sample: string, sql: string): Promise<Rows> => rows('query', `samples/${sample}`, sql);

const PAGE = [...read('docs/queries.md').matchAll(/^([^\n]*\?)[^\n]*\n\n```sql\n([^`]*)```/gm)].map(
  ([, question, sql]): [string, string] => [question!, sql!],
);
const SAMPLES: readonly (readonly [RegExp, string])[] = [
  [/hang/, 'hang'],
  [/link, both|my log/, 'hosts'],
  [/waited longest/, 'slow-link'],
  [/channels share/, 'thin-channel'],
  [/./, 'straggler'],
];
const answers = new Map<string, Promise<Rows>>();
/** Of the question on the page that has these words, on a sample that has an answer. */
function answer(words: string): Promise<Rows> {
  const [asked, sql] = PAGE.find(([one]) => one.includes(words))!;
  const [, sample] = SAMPLES.find(([about]) => about.test(asked))!;
  const known = answers.get(asked) ?? query(sample, sql);
  answers.set(asked, known);
  return known;
}

describe('docs/queries.md', () => {
  it.each(PAGE)('%s', async (question) => {
    expect((await answer(question)).length).toBeGreaterThan(0);
  });

  it('answers what the commands say', async () => {
    const [busiest] = await answer('most bytes');
    const [link] = await rows('links', 'samples/straggler', '--top', '1');
    for (const name of ['bytes', 'transfers']) expect(busiest![name]).toBe(link![name]);

    const [worst] = await answer('waited longest');
    const waits = await rows('waits', 'samples/slow-link');
    const longest = Math.max(...waits.map((row) => Number(row.total_ns)));
    expect(worst!.total_ns).toBeGreaterThanOrEqual(longest);

    const channels = await answer('channels share');
    expect(channels.reduce((sum, row) => sum + Number(row.share), 0)).toBeCloseTo(channels.length, 1);

    const [late] = await answer('come last');
    expect(late!.late_rank).toBe(2);

    expect(await answer('Which transfers hang')).toContainEqual(
      expect.objectContaining({
        rank: 0,
        peer: 3,
        direction: 'recv',
        channel: 1,
        seq: 2,
        step: 3,
        waits_in: 'recv wait',
      }),
    );
  });
});

describe('query', () => {
  it('for people with units, and as CSV', async () => {
    const sql = 'SELECT source, bytes, mean_ns, mean_ns / 2 AS half_ns FROM links ORDER BY ALL LIMIT 1';
    expect((await run('query', 'samples/abi-v4', sql)).out).toMatch(
      /^source +bytes +mean +half\n +0 +[\d.]+ [MK]iB +[\d.]+ us +[\d.]+ us\n$/,
    );
    expect((await run('query', 'samples/abi-v4', sql, '--csv')).out).toMatch(
      /^source,bytes,mean_ns,half_ns\n0,\d+,\d+,[\d.]+\n$/,
    );
  });

  it('takes a table by its name in any case, as SQL does', async () => {
    const sql = 'SELECT count(DISTINCT rank) AS n FROM "Ranks" JOIN LINKS ON rank = source';
    expect(await query('abi-v4', sql)).toEqual([{ n: 2 }]);
  });

  it('reads no file but the tables, and writes none', async () => {
    const secret = path.join(folder, 'secret.csv');
    writeFileSync(secret, 'a,b\n1,2\n');
    vi.stubEnv('TMPDIR', folder);
    for (const sql of [
      `SELECT * FROM '${secret}'`,
      `SELECT * FROM read_csv('${secret}')`,
      `SELECT * FROM read_text('${secret}')`,
      `SELECT * FROM glob('${folder}/*')`,
      `SELECT * FROM read_text('/proc/self/environ')`,
      `SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')`,
    ]) {
      const { code, out, err } = await run('query', 'samples/abi-v4', sql);
      expect([code, out], sql).toEqual([2, '']);
      expect(err, sql).toMatch(/Permission Error|file system operations are disabled/);
    }
    const written = path.join(folder, 'written');
    for (const sql of [
      `COPY (SELECT 1) TO '${written}'`,
      `ATTACH '${written}' AS other`,
      `SET enable_external_access = true`,
      `SET memory_limit = '90GB'`,
      `INSTALL httpfs`,
      `CREATE TABLE x AS SELECT 1`,
      `SELECT 1; SELECT 2`,
    ])
      expect(await run('query', 'samples/abi-v4', sql), sql).toMatchObject({ code: 2, out: '' });
    expect(existsSync(written)).toBe(false);
    expect(readdirSync(folder)).toEqual(['secret.csv']);
    vi.unstubAllEnvs();
  });

  it('says in one line what is wrong with a query', async () => {
    for (const [sql, why] of [
      ['SELEC 1', /syntax error at or near "SELEC"/],
      ['SELECT byte FROM links', /Candidate bindings: .*"bytes"/],
      ['SELECT * FROM calls', /calls does not exist! LINE 1: .*; the tables are collectives, .*, steps$/m],
      ['', /query takes one SELECT/],
      [';', /query takes one SELECT/],
      ['SHOW TABLES', /query takes a SELECT; the tables are .*links/],
      ['describe links', /query takes a SELECT; the tables are/],
    ] as const) {
      const { code, err } = await run('query', 'samples/abi-v4', sql);
      expect([code, err.trimEnd().split('\n').length], sql).toEqual([2, 1]);
      expect(err).toMatch(why);
    }
    expect((await run('query', 'SELECT 1')).err).toContain('name the rank files first, then the query');
  });
});
