/** `export`: what a notebook reads from the files is what the program knows, to the nanosecond. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportColumns } from '../../src/export/batch.js';
import { STEPS } from '../../src/export/step_columns.js';
import { merge } from '../../src/merge.js';
import { examine } from '../../src/report/examine.js';
import { COLLECTIVES, LINKS, PAIRS, RANKS, TABLES, WAITS, WORKS } from '../../src/report/run_tables.js';
import { jsonOf, tableOf } from '../../src/report/table_formats.js';
import { collectivesOf, kinetoText } from '../support/made_up/kineto.js';
import { viewTrace } from '../support/traces/trace_view.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { folder, remove } = temporaryFolder();
let duckdb: DuckDBConnection;
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  duckdb.closeSync();
  remove();
});

const run = (...args: string[]): Promise<TextResult> => runHere(root, ...args);
const at = (...names: string[]): string => path.join(folder, ...names);

type Rows = Record<string, bigint | number | string | boolean | null>[];
const query = async (sql: string): Promise<Rows> =>
  (await duckdb.runAndReadAll(sql)).getRowObjects() as unknown as Rows;

async function exported(sample: string, format: 'parquet' | 'csv'): Promise<string> {
  const to = at(`${sample}-${format}`);
  if (existsSync(to)) return to;
  expect(await run('export', `samples/${sample}`, `--${format}`, to)).toMatchObject({ code: 0, out: '' });
  return to;
}

const SAMPLES = ['hosts', 'hang', 'wrapped', 'pxn', 'graph', 'abi-v1'];
const TYPES = { text: 'VARCHAR', whole: 'BIGINT', real: 'DOUBLE', time: 'TIMESTAMP' };

describe('export --parquet', () => {
  it.each([COLLECTIVES, LINKS, PAIRS, RANKS, WAITS, WORKS, STEPS])(
    '$name: DuckDB reads the columns that schemas/tables.md describes, with their types',
    async ({ name, columns }) => {
      const to = await exported('hosts', 'parquet');
      const file = name === 'steps' ? 'steps/*.parquet' : `${name}.parquet`;
      const found = await query(`DESCRIBE SELECT * FROM '${to}/${file}'`);
      expect(found.map((row) => [row.column_name, row.column_type])).toEqual(
        exportColumns(columns).map((column) => [column.name, TYPES[column.type]]),
      );
    },
  );

  it.each(SAMPLES)(
    '%s: the rows are those of the commands, and no time loses a nanosecond',
    async (sample) => {
      const to = await exported(sample, 'parquet');
      const { report, numbers } = await examine([path.join(root, 'samples', sample)], { jobs: 1 });
      for (const name of ['collectives', 'links', 'ranks', 'waits'] as const) {
        const table = JSON.parse(jsonOf(tableOf(name, report, numbers.collectives))) as Rows;
        const rows = await query(`SELECT * FROM '${to}/${name}.parquet'`);
        const plain = rows.map((row) =>
          Object.fromEntries(
            Object.keys(table[0]!).map((column) => {
              const cell = row[column];
              return [column, typeof cell === 'bigint' ? Number(cell) : cell];
            }),
          ),
        );
        if (name === 'ranks')
          for (const row of [...table, ...plain]) row.file = path.basename(String(row.file));
        expect(plain).toEqual(table);
      }
      const start = BigInt(report.run.traceStart);
      const dates = await query(
        `SELECT start_ns, epoch_us(start_time) AS us FROM '${to}/steps/*.parquet' UNION ALL
       SELECT start_ns, epoch_us(start_time) FROM '${to}/collectives.parquet'`,
      );
      for (const { start_ns: ns, us } of dates) expect(us).toBe((start + (ns as bigint)) / 1000n);
    },
  );

  it.each(SAMPLES)('%s: transfers add up to the links and to the waits of the ranks', async (sample) => {
    const to = await exported(sample, 'parquet');
    const steps = `'${to}/steps/*.parquet'`;
    const byLink = `SELECT rank AS source, peer AS destination, comm_id, channel, count(*) AS transfers, sum(bytes)::BIGINT AS bytes
      FROM ${steps} WHERE direction = 'send' AND end_ns IS NOT NULL AND peer IS NOT NULL AND comm_id IS NOT NULL GROUP BY ALL`;
    const links = `SELECT source, destination, comm_id, channel, transfers, bytes FROM '${to}/links.parquet'`;
    const missing = await query(`(${links}) EXCEPT (${byLink})`);
    const extra = await query(`(${byLink}) EXCEPT (${links})`);
    expect([missing, extra]).toEqual([[], []]);
    const WAITS_OF_RANK = ['gpu', 'peer', 'send', 'recv', 'flush'];
    const [sums] = await query(
      `SELECT count(*) AS steps, ${WAITS_OF_RANK.map((wait) => `coalesce(sum(${wait}_wait_ns), 0)::DOUBLE AS ${wait}`).join()} FROM ${steps}`,
    );
    const [ranks] = await query(
      `SELECT ${WAITS_OF_RANK.map((wait) => `sum(${wait}_wait_ns)::DOUBLE AS ${wait}`).join()} FROM '${to}/ranks.parquet'`,
    );
    // Each transfer's wait is rounded to a nanosecond.
    for (const wait of WAITS_OF_RANK)
      expect(Math.abs(Number(sums![wait]) - Number(ranks![wait]))).toBeLessThanOrEqual(Number(sums!.steps));
  });

  it('a transfer that hangs has no end, and says what it waits in', async () => {
    const to = await exported('hang', 'parquet');
    const open = await query(
      `SELECT rank, peer, waits_in FROM '${to}/steps/*.parquet' WHERE end_ns IS NULL AND waits_in = 'recv wait' ORDER BY ALL`,
    );
    expect(open.length).toBeGreaterThan(0);
    const ended = await query(
      `SELECT count(*) AS n FROM '${to}/steps/*.parquet' WHERE (end_ns IS NULL) <> (waits_in IS NOT NULL)`,
    );
    expect(ended).toEqual([{ n: 0n }]);
  });

  it('transfers name their work', async () => {
    const to = await exported('hosts', 'parquet');
    const pairs = await query(
      `SELECT count(*) AS n, count(w.work) AS known, count(*) FILTER (w.func = s.func AND w.seq = s.seq AND s.start_ns >= w.call_ns) AS same
       FROM '${to}/steps/*.parquet' s LEFT JOIN '${to}/works.parquet' w ON w.rank = s.rank AND w.work = s.work`,
    );
    expect(pairs).toEqual([{ n: 768n, known: 768n, same: 768n }]);
  });

  it.each(['csv', 'parquet'] as const)(
    'a name whose text is lost is said to be lost, as %s',
    async (format) => {
      const bytes = readFileSync(path.join(root, 'samples/hosts/rank00000.bin'));
      const first = bytes.indexOf('AllReduc');
      bytes.fill(0, first & ~31, (first & ~31) + 256 * 32);
      const file = at(`lost-${format}.bin`);
      writeFileSync(file, bytes);
      const to = at(`lost-${format}`);
      expect(await run('export', file, `--${format}`, to)).toMatchObject({ code: 0 });
      for (const table of ['works', 'steps/*'])
        expect(await query(`SELECT DISTINCT func FROM '${to}/${table}.${format}'`), table).toEqual([
          { func: 'string 1 lost' },
        ]);
    },
  );
});

describe('all_to_alls', () => {
  it('a rank that receives six times as much ends last in each of 20, and each pair has its bytes', async () => {
    const input = unpackRecording('cases/uneven-alltoall', folder);
    expect(await run('export', input, '-q', '--parquet', at('uneven'))).toMatchObject({ code: 0 });
    const calls = await query(
      `SELECT count(*) AS calls, max(call) AS last, most_rank, most_way, most_bytes, usual_bytes, last_rank, last_by_bytes
       FROM '${at('uneven')}/all_to_alls.parquet' WHERE duration_ns > 0 AND last_by_ns > 0 GROUP BY ALL`,
    );
    const [most, usual] = [6n * 131_072n, 131_072n];
    expect(calls).toEqual([
      {
        ...{
          calls: 20n,
          last: 19n,
          most_rank: 2n,
          most_way: 'receives',
          most_bytes: most,
          usual_bytes: usual,
        },
        ...{ last_rank: 2n, last_by_bytes: 'yes' },
      },
    ]);
    const pairs = await query(
      `SELECT source, destination, sends, bytes / sends AS bytes FROM '${at('uneven')}/exchanges.parquet' ORDER BY ALL`,
    );
    expect(pairs.map(({ source, destination, sends, bytes }) => [source, destination, sends, bytes])).toEqual(
      [
        [0n, 1n, 65_536],
        [0n, 2n, 393_216],
        [1n, 0n, 65_536],
        [1n, 2n, 393_216],
        [2n, 0n, 65_536],
        [2n, 1n, 65_536],
      ].map(([source, destination, bytes]) => [source, destination, 20n, bytes]),
    );
  });

  it('are none where the first call is not recorded, or a rank has no file', async () => {
    for (const sample of ['hosts', 'wrapped'])
      expect(await query(`SELECT * FROM '${await exported(sample, 'parquet')}/all_to_alls.parquet'`)).toEqual(
        [],
      );
  });
});

describe('export --with', () => {
  it('has the training steps of the files, as merge counts them, and says which file it cannot use', async () => {
    const input = path.join(root, 'samples/wrapped');
    const output = at('wrapped.pftrace');
    await merge({ inputs: [input], output, jobs: 1 });
    const works = collectivesOf(viewTrace(readFileSync(output), { emptySlices: 'fine' }), 0);
    const [known, broken] = [at('known.json'), at('broken.json')];
    writeFileSync(known, kinetoText(works, { rank: 0, worldSize: 2 }));
    writeFileSync(broken, '{"traceEvents": [');
    const { foreign } = await merge({
      inputs: [input],
      output,
      force: true,
      jobs: 1,
      with: [{ path: known, rank: null }],
    });
    const told = await run('export', input, '--parquet', at('beside'), '--with', known, broken);
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining('broken.json') as string });
    const rows = await query(
      `SELECT rank, step, start_ns, duration_ns, nccl_ns, exposed_ns FROM '${at('beside')}/training_steps.parquet'`,
    );
    const wanted = foreign.flatMap((one) => ('exposed' in one ? one.exposed : []));
    expect(wanted.length).toBeGreaterThan(0);
    expect(rows).toEqual(
      wanted.map((one) => ({
        ...{ rank: BigInt(one.rank), step: one.step ?? '(whole file)', start_ns: BigInt(one.start) },
        ...{ duration_ns: BigInt(one.duration), nccl_ns: BigInt(one.nccl), exposed_ns: BigInt(one.exposed) },
      })),
    );
    expect(existsSync(path.join(await exported('wrapped', 'parquet'), 'training_steps.parquet'))).toBe(false);
  });

  // findings/parquet_nan_filter.sh
  it.each(SAMPLES)('%s: no rate or share is NaN or infinite', async (sample) => {
    const parquet = await exported(sample, 'parquet');
    for (const { name, columns } of TABLES) {
      const real = exportColumns(columns).filter(({ type }) => type === 'real');
      const odd = real.map((column) => `isnan(${column.name}) OR isinf(${column.name})`);
      if (odd.length > 0)
        expect(await query(`FROM '${parquet}/${name}.parquet' WHERE ${odd.join(' OR ')}`)).toEqual([]);
    }
  });
});

describe('export --csv', () => {
  // findings/csv_hex_ids.sh
  it('ids are text if they are read as schemas/tables.md says', async () => {
    const [csv, parquet] = [await exported('hosts', 'csv'), await exported('hosts', 'parquet')];
    const [, sql] = /`(SELECT \* FROM read_csv\(.*?)`/.exec(
      readFileSync(path.join(root, 'schemas/tables.md'), 'utf8'),
    )!;
    const ids = (from: string): string => `SELECT comm_id FROM (${from}) ORDER BY ALL`;
    const read = await query(ids(sql!.replace('DIR', csv)));
    expect(read.length).toBeGreaterThan(0);
    expect(read).toEqual(await query(ids(`FROM '${parquet}/links.parquet'`)));
  });

  it.each(['hosts', 'hang', 'wrapped'])('%s: the same rows', async (sample) => {
    const [csv, parquet] = [await exported(sample, 'csv'), await exported(sample, 'parquet')];
    for (const name of ['collectives', 'links', 'pairs', 'ranks', 'waits', 'works', 'steps/*']) {
      const { columns } = [COLLECTIVES, LINKS, PAIRS, RANKS, WAITS, WORKS, STEPS].find((one) =>
        name.startsWith(one.name),
      )!;
      const types = exportColumns(columns).map((column) => `'${column.name}': '${TYPES[column.type]}'`);
      const one = `SELECT * FROM read_csv('${csv}/${name}.csv', header = true, columns = {${types.join()}})`;
      // Both readers take an empty cell of a CSV file for NULL.
      const text = exportColumns(columns).map(({ name: column, type }) =>
        type === 'text' ? `nullif(${column}, '') AS ${column}` : column,
      );
      const other = `SELECT ${text.join()} FROM '${parquet}/${name}.parquet'`;
      expect(await query(`(${one}) EXCEPT ALL (${other})`)).toEqual([]);
      expect(await query(`(${other}) EXCEPT ALL (${one})`)).toEqual([]);
    }
  });

  it('a name that begins like a formula is no formula', async () => {
    expect(readFileSync(path.join(await exported('hosts', 'csv'), 'ranks.csv'), 'utf8')).toContain(
      ',node000,',
    );
  });
});

describe('the folder', () => {
  it('is private, and has nothing else', async () => {
    const to = await exported('hosts', 'parquet');
    const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).sort();
    expect(files.filter((name) => name.includes('/'))).toEqual(
      [0, 1, 2, 3].map((file) => `steps/0000${file}.parquet`),
    );
    for (const name of files)
      expect(statSync(path.join(to, name)).mode & 0o777, name).toBe(name === 'steps' ? 0o700 : 0o600);
    expect(statSync(to).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('may exist if it is empty; nothing in it is ever replaced', async () => {
    mkdirSync(at('empty'));
    expect(await run('export', 'samples/hang', '-q', '--csv', at('empty'))).toMatchObject({
      code: 0,
      err: '',
    });
    writeFileSync(at('file'), 'mine');
    for (const [to, why] of [
      ['empty', 'is not empty; name another folder'],
      ['file', 'is not a directory; name another folder'],
      ['none/below', 'create the directory above it first'],
    ] as const) {
      const refused = await run('export', 'samples/hang', '--csv', at(to));
      expect(refused.code).toBe(4);
      expect(refused.err).toContain(`${at(to)}: `);
      expect(refused.err).toContain(why);
    }
    expect(readFileSync(at('file'), 'utf8')).toBe('mine');
  });

  it('needs one format and rank files', async () => {
    for (const args of [[], ['--csv', at('a'), '--parquet', at('b')]])
      expect(await run('export', 'samples/hang', ...args)).toMatchObject({ code: 2 });
    await run('scan', 'samples/abi-v4', '-qj1', '-o', at('run.scan'));
    await run('study', at('run.scan'), '-qo', at('run.study'));
    expect((await run('export', at('run.study'), '--csv', at('c'))).err).toContain(
      'is a .study, which has too little for this; name rank files',
    );
    expect(await run('export', at('nothing'), '--csv', at('d'))).toMatchObject({ code: 3 });
    for (const name of ['a', 'b', 'c', 'd']) expect(existsSync(at(name))).toBe(false);
  });

  it('--redact: no name of a host, program or file is in any table', async () => {
    expect(await run('export', 'samples/hosts', '--redact', '-q', '--csv', at('redacted'))).toMatchObject({
      code: 0,
    });
    const text = readdirSync(at('redacted'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.csv'))
      .map((name) => readFileSync(at('redacted', name), 'utf8'))
      .join('');
    expect(text).toContain('host-1');
    expect(text).toContain('comm-1');
    expect(text).not.toMatch(/node00|rank0000|world/);
  });
});
