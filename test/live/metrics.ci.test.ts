/** Prometheus's own tool accepts the metrics, and the queries of schemas/metrics.md. */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);
const noTool = spawnSync('promtool', ['--version']).error !== undefined;

it.skipIf(noTool).each(['hang', 'hosts', 'copy-engine', 'pxn', 'graph', 'abi-v1'])(
  'promtool check metrics: %s',
  (name) => {
    const text = execFileSync(process.execPath, [
      PROGRAM,
      'metrics',
      projectFile(`samples/${name}`),
      '--once',
    ]);
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
);

it.skipIf(noTool)(
  'the queries of schemas/metrics.md are ones, and those of alerts find a hang over two nodes',
  () => {
    const rows = readFileSync(projectFile('schemas/metrics.md'), 'utf8').split('\n');
    const queries = rows.flatMap((row) => {
      const [, query] = /`([^`]+)` \|$/.exec(row) ?? [];
      return query === undefined ? [] : [query.replaceAll('\\|', '|')];
    });
    expect(queries.length).toBeGreaterThan(15);
    const rules = {
      groups: [{ name: 'all', rules: queries.map((expr, i) => ({ record: `query_${i}`, expr })) }],
    };
    const file = path.join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify(rules));
    // Two exporters, of ranks 0 and 1, and of ranks 2 and 3. Rank 2 is one AllReduce behind.
    const series = (rank: number, node: string, entered: number) => ({
      series: `nccl_trace_collective_entered{rank="${rank}",comm="0x1",function="AllReduce",instance="${node}"}`,
      values: `${entered}x10`,
    });
    const lags = queries.find((query) => query.startsWith('max by(comm, function)'))!;
    const test = {
      rule_files: [file],
      evaluation_interval: '15s',
      tests: [
        {
          interval: '15s',
          input_series: [series(0, 'a', 7), series(1, 'a', 7), series(2, 'b', 6), series(3, 'b', 7)],
          promql_expr_test: [
            {
              expr: lags,
              eval_time: '1m',
              exp_samples: [{ labels: '{rank="2",comm="0x1",function="AllReduce",instance="b"}', value: 1 }],
            },
          ],
        },
      ],
    };
    const testFile = path.join(folder, 'test.json');
    writeFileSync(testFile, JSON.stringify(test));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', testFile], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  },
);
