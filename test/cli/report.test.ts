/** `report` and the tables: what scripts, spreadsheets and tickets are given, and that names from files are data in all of them. */

import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { writePage } from '../../src/cli/report_page.js';
import { STEPS } from '../../src/export/step_columns.js';
import { examine } from '../../src/report/examine.js';
import { markdownOf } from '../../src/report/markdown.js';
import type { RunReport } from '../../src/report/run_report.js';
import { shownTable } from '../../src/report/shown_table.js';
import { TABLES, TRAINING_STEPS, WAITS } from '../../src/report/run_tables.js';
import { csvOf, filled, jsonOf, tableOf } from '../../src/report/table_formats.js';
import { record } from '../support/jobs/loopback.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const samples = readdirSync(path.join(root, 'samples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const folder = folderOfFile();

const run = (...args: string[]): Promise<TextResult> => runHere(root, ...args);

describe('report', () => {
  it('--json: the verdict of inspect, and numbers beside it', async () => {
    const { code, out, err } = await run(
      ...['report', 'samples/straggler', '--json', '-q', '--hung-after', '5'],
    );
    const inspected = await run('inspect', 'samples/straggler');
    expect([code, err]).toEqual([0, '']);
    const report = JSON.parse(out) as RunReport;
    const shown = inspected.out.trimEnd().split('\n');
    expect(report.lines).toEqual(shown.slice(0, report.lines.length));
    expect(report.ranks.map(({ rank }) => rank)).toEqual([0, 1, 2, 3]);
    expect(report.collectives).toMatchObject({ total: 14 });
    expect(report.groups[0]).toMatchObject({ func: 'AllReduce', count: 7, lateRank: 2 });
    expect(report.made).toMatchObject({
      options: '--hung-after 5',
      by: 'nccl-trace 0.1.0',
      files: { length: 4 },
    });
  });

  it('every field of the record is in schemas/report.md', async () => {
    const { report } = await examine([path.join(root, 'samples/straggler')], { jobs: 1 });
    const text = readFileSync(path.join(root, 'schemas/report.md'), 'utf8');
    for (const name of Object.keys(report)) expect(text).toMatch(new RegExp(`\`${name}(\\[\\])?\``));
    const { run: facts, ranks, groups, made } = report;
    for (const part of [facts, ranks[0]!, groups[0]!, made])
      for (const name of Object.keys(part)) expect(text, name).toMatch(new RegExp(`\`${name}(\\[\\])?\``));
  });

  it.each(['.pftrace', '.pftrace.gz'])(
    'a page leaves out a trace that was cut, and says so: %s',
    async (end) => {
      const trace = path.join(folder, `cut${end}`);
      await run('merge', 'samples/hang', '-qo', trace);
      const { report } = await examine([path.join(root, 'samples/hang')], { jobs: 1 });
      const page = path.join(folder, `cut${end}.html`);
      const content = { report, pictures: [], trace, traceName: trace, startup: '' };
      const options = { trace: true, traceBudget: 1e6, origin: 'https://ui.perfetto.dev' };
      for (const isCut of [false, true]) {
        if (isCut) truncateSync(trace, statSync(trace).size - 60);
        await writePage(page, content, options, { force: true, inputs: [] });
        const text = readFileSync(page, 'utf8');
        expect(text.includes('id="trace"')).toBe(!isCut);
        expect(text.includes('The trace is not in this file: the end of this trace is missing')).toBe(isCut);
      }
    },
  );

  it('needs one form, and not two', async () => {
    expect(await run('report', 'samples/hang')).toMatchObject({ code: 2 });
    expect(await run('report', 'samples/hang', '--json', '--markdown')).toMatchObject({ code: 2 });
    expect(await run('links', 'samples/hang', '--json', '--csv')).toMatchObject({ code: 2 });
  });

  it.each(samples)('--markdown of %s: at most 60 lines, and the first is the verdict', async (sample) => {
    const { report } = await examine([path.join(root, 'samples', sample)], { jobs: 1, hungAfter: 1 });
    const lines = markdownOf(report).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(60);
    expect(lines[0]).toMatch(/^### [A-Z ]+(: |$)/);
    expect(lines.filter((line) => line === '```')).toHaveLength(2);
    for (const row of lines.filter((line) => line.startsWith('|')))
      expect(row.endsWith(' |') || row.endsWith('|')).toBe(true);
  });
});

describe('tables', () => {
  it.each([...TABLES.filter(({ name }) => name !== 'pairs'), STEPS, TRAINING_STEPS])(
    '$name: the columns are those of schemas/tables.md',
    ({ name, columns }) => {
      const text = readFileSync(path.join(root, 'schemas/tables.md'), 'utf8');
      const [, section = ''] =
        new RegExp(`^## ${name}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(text) ?? [];
      const told = [...section.matchAll(/^\| `(\w+)` +\| *([\w/]*) *\|/gm)].map(([, column, unit]) => [
        column,
        unit,
      ]);
      expect(columns.map((column) => [column.name, column.unit])).toEqual(told);
    },
  );

  it('a column that is described is in CSV, JSON and the terminal', () => {
    const named = { name: 'extra_ns', title: 'Extra', of: () => 5e6 };
    const extra = { ...named, unit: 'ns', type: 'whole', isName: false, shown: {} } as const;
    const row = { rank: 0, forRank: 1, comm: 'dp', commId: '0x1', waitsFor: 'data' } as const;
    const rows = [{ ...row, transfers: 3, totalNs: 9, openSinceNs: null }];
    const table = filled({ ...WAITS, columns: [...WAITS.columns, extra] }, rows);
    expect(csvOf(table)).toMatch(/,extra_ns\n.*,5000000\n$/);
    expect(JSON.parse(jsonOf(table))).toMatchObject([{ extra_ns: 5e6 }]);
    expect(shownTable(table, { width: Infinity })).toMatch(/extra\n.* 5 ms\n/);
  });

  it('collectives --csv: a line for each, and --json the same rows', async () => {
    const csv = await run('collectives', 'samples/healthy', '--csv');
    const json = await run('collectives', 'samples/healthy', '--json');
    const [head = '', ...lines] = csv.out.trimEnd().split('\n');
    const rows = JSON.parse(json.out) as Record<string, unknown>[];
    expect(lines).toHaveLength(10);
    expect(rows).toHaveLength(lines.length);
    expect(Object.keys(rows[0]!)).toEqual(head.split(','));
    expect(lines.map((line) => line.split(',')[4])).toEqual(rows.map(({ seq }) => String(seq)));
  });

  it('links --json: the connection that moved the most bytes is the first row', async () => {
    const { out } = await run('links', 'samples/healthy', '--json');
    const bytes = (JSON.parse(out) as { bytes: number }[]).map((row) => row.bytes);
    expect(bytes[0]).toBeGreaterThan(0);
    expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
  });

  it('links --pairs: the channels of a pair add up, also their times', async () => {
    const links = async (...more: string[]): Promise<Record<string, number>[]> => {
      const { out } = await run('links', 'samples/straggler', '--json', ...more);
      return JSON.parse(out) as Record<string, number>[];
    };
    const channels = await links();
    const pairs = await links('--pairs');
    expect([channels.length, pairs.length]).toEqual([8, 4]);
    for (const pair of pairs) {
      const own = channels.filter(
        ({ source, destination }) => source === pair.source && destination === pair.destination,
      );
      const sum = (name: string): number => own.reduce((total, one) => total + one[name]!, 0);
      expect(pair.channel).toBeNull();
      for (const name of ['bytes', 'transfers', 'sender_room_ns'])
        expect(Math.abs(pair[name]! - sum(name))).toBeLessThan(3);
      // Equally many transfers each: the mean of the pair is that of its channels.
      expect(pair.mean_ns! / (sum('mean_ns') / own.length)).toBeCloseTo(1, 2);
      expect(pair.min_latency_ns).toBeLessThanOrEqual(
        Math.max(...own.map(({ min_latency_ns: one }) => one!)),
      );
    }
  });

  it('without a form: aligned, the first rows', async () => {
    const { out } = await run('waits', 'samples/hang');
    const [head = '', first = ''] = out.split('\n');
    expect(head).toMatch(/^rank {2}for_rank {2}waits_for/);
    expect(first).toMatch(/^ {3}3 {9}2 {2}data {7}world {9}27 {3}141 ms {3}0\.027610s$/);
  });

  it('for people: numbers have units, and no column is raw', async () => {
    for (const table of ['collectives', 'links', 'ranks', 'waits']) {
      const { out } = await run(table, 'samples/straggler');
      expect(out.split('\n')[0]).not.toMatch(/_(ns|gbs|bytes)\b|comm_id/);
      expect(out).toMatch(/\d (ms|us)/);
      expect(out).not.toMatch(/\d{7}/);
    }
  });

  it('--sort and --top: for people and JSON alike', async () => {
    const seqs = async (...args: string[]): Promise<unknown[]> => {
      const { out } = await run('collectives', 'samples/straggler', '--json', ...args);
      return (JSON.parse(out) as Record<string, unknown>[]).map((row) => row.duration_ns);
    };
    const all = await seqs();
    const longest = [...all].sort((a, b) => Number(b) - Number(a));
    expect(await seqs('--sort', 'duration')).toEqual(longest);
    expect(await seqs('--sort', 'duration_ns', '--top', '3')).toEqual(longest.slice(0, 3));
    expect(await seqs('--sort', '-duration', '--top', '1')).toEqual(longest.slice(-1));
    const { out } = await run('ranks', 'samples/straggler', '--sort', '-rank', '--top', '2');
    expect(out).toMatch(/\n {3}3 .*\n {3}2 .*\nand 2 more rows: --top 4, --csv\n$/);
    const wrong = await run('links', 'samples/straggler', '--sort', 'byte');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('(did you mean bytes?)') as string });
  });

  it('a terminal gets as many columns as it is wide, and is told of the others', async () => {
    const examined = await examine([path.join(root, 'samples/straggler')], { jobs: 1 });
    for (const name of ['collectives', 'links', 'ranks', 'waits'] as const) {
      const table = tableOf(name, examined.report, examined.numbers.collectives);
      const whole = shownTable(table, { width: Infinity });
      expect(whole).not.toContain('no room for');
      for (const width of [40, 80, 120]) {
        const [note = '', ...lines] = shownTable(table, { width }).trimEnd().split('\n').reverse();
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
        const heads = [
          ...lines.at(-1)!.trim().split(/ +/),
          ...(/^no room for (.*): --csv$/.exec(note)?.[1]?.split(', ') ?? []),
        ];
        expect(heads.sort()).toEqual(whole.split('\n')[0]!.trim().split(/ +/).sort());
      }
    }
  });

  it('groups of one name are told apart in tables, Markdown and JSON', async () => {
    const { folder: tp } = await record(
      path.join(folder, 'tp'),
      '--ranks 4 --iterations 4 --ops allreduce@tp:64K --groups tp=2',
    );
    for (const table of ['collectives', 'links', 'waits']) {
      const { out } = await run(table, tp);
      expect(out).toContain('tp ranks 0-1 ');
      expect(out).toContain('tp ranks 2-3 ');
    }
    const markdown = (await run('report', tp, '--markdown', '-q')).out;
    expect(markdown).toContain('| tp ranks 0-1 (2) | AllReduce |');
    const report = JSON.parse((await run('report', tp, '--json', '-q')).out) as RunReport;
    expect(report.communicators.map(({ comm, kind }) => [comm, kind])).toEqual(
      expect.arrayContaining([
        ['tp ranks 0-1', 'tp'],
        ['tp ranks 2-3', 'tp'],
      ]),
    );
  });
});

it('transfers of operations whose start was overwritten count in their own direction', async () => {
  const { report } = await examine([path.join(root, 'samples/wrapped')], { jobs: 1 });
  const moved = report.ranks.map(({ bytesSent, bytesReceived }) => [bytesSent, bytesReceived]);
  expect(moved).toEqual([
    [13_107_200, 13_107_200],
    [13_107_200, 13_107_200],
  ]);
});

describe('names from files are data', () => {
  /** What somebody may call a host, to see what happens. */
  const NASTY = '=cmd|"x"!A1,</script><img src=x onerror=alert(1)>\u202e\n`|*';
  let report: RunReport;
  let csv = '';

  beforeAll(async () => {
    const input = path.join(folder, 'nasty');
    mkdirSync(input);
    for (let rank = 0; rank < SMALL_RUN.ranks; rank++)
      madeUpRank(rank, SMALL_RUN, { hostName: NASTY }).write(path.join(input, `rank${rank}.bin`));
    const examined = await examine([input], { jobs: 1, hungAfter: 1 });
    ({ report } = examined);
    csv = csvOf(tableOf('ranks', report, examined.numbers.collectives));
  });

  it('CSV: no formula, no line of its own, the quotes doubled', () => {
    expect(csv.trimEnd().split('\n')).toHaveLength(1 + SMALL_RUN.ranks);
    expect(csv).toContain(`"'=cmd|""x""!A1,</script><img src=x onerror=alert(1)>??\`|*"`);
  });

  it('Markdown: no markup outside the fence', () => {
    const [before = '', , after = ''] = markdownOf(report).split(/^```$/m);
    expect(before + after).not.toMatch(/(?<!\\)<(?!\/?$)/);
    expect(markdownOf(report)).not.toMatch(/[\u202e]/);
  });

  it('and with --redact they are not there', async () => {
    const { report: redacted } = await examine([path.join(folder, 'nasty')], {
      jobs: 1,
      hungAfter: 1,
      redact: true,
    });
    expect(JSON.stringify(redacted)).not.toContain('onerror');
    expect(JSON.stringify(redacted)).not.toContain(folder);
    expect(redacted.ranks[0]!.host).toBe('host-1');
  });
});

describe('--peak', () => {
  it('gives each kind of collective what the network allows, and wants hosts of the run', async () => {
    const peak = async (...args: string[]): Promise<TextResult> =>
      run('report', 'samples/hosts', '--json', '-q', ...args);
    const { code, out } = await peak('--peak', '0.001');
    expect(code).toBe(0);
    const { groups } = JSON.parse(out) as RunReport;
    const across = groups.filter(({ peakGBs }) => peakGBs !== null);
    expect(across.length).toBeGreaterThan(0);
    for (const { busbwGBs, achieved } of across) expect(achieved).toBeCloseTo(busbwGBs! / 0.001, -1);
    const wrong = await peak('--peak', 'nowhere=5');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('no host nowhere in this run')]);
    expect(await peak('--peak', 'fast')).toMatchObject({ code: 2 });
  });
});
