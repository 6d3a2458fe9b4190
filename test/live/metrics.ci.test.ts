/** Prometheus's own tool accepts the metrics, and the alerts are right about made-up jobs (promql.ci.test.ts has real ones). */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { PROGRAM } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();
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

it('the dashboard of examples/grafana is one, and asks for metrics that exist', () => {
  interface Panel {
    readonly id: number;
    readonly title: string;
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
    readonly targets: readonly { readonly expr: string }[];
  }
  const text = readFileSync(projectFile('examples/grafana/nccl-trace.json'), 'utf8');
  const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    const hidden = panels.filter(
      ({ gridPos: other }) =>
        gridPos.x < other.x + other.w &&
        other.x < gridPos.x + gridPos.w &&
        gridPos.y < other.y + other.h &&
        other.y < gridPos.y + gridPos.h,
    );
    expect(hidden.map((other) => other.title)).toEqual([title]);
  }
  const documented = readFileSync(projectFile('schemas/metrics.md'), 'utf8');
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const used = queries.flatMap((expr) => expr.match(/nccl_trace_\w+/g) ?? []);
  expect(used.length).toBeGreaterThan(15);
  for (const name of used) {
    const row = name.replace(/_(bucket|sum|count)$/, '');
    expect(documented.includes(`| \`${name}\` |`) || documented.includes(`| \`${row}\` |`), name).toBe(true);
  }
});

it.skipIf(noTool)('the alerts of examples/prometheus name the rank that lags, over two nodes', () => {
  // Ranks 0 and 1 are on one node, 2 and 3 on another. From the third minute on rank 2 is one AllReduce behind, and nothing goes on.
  const series = (name: string, rank: number, labels: string, values: string) => ({
    series: `nccl_trace_${name}{run="r",rank="${rank}",instance="${rank < 2 ? 'a' : 'b'}"${labels}}`,
    values,
  });
  const until = Array.from({ length: 20 }, (_, i) => 15 * Math.min(i, 12)).join(' ');
  const input = [0, 1, 2, 3].flatMap((rank) => [
    series(
      'collective_entered',
      rank,
      ',comm="0x1",function="AllReduce"',
      rank === 2 ? '1+1x11 12x20' : '1+1x12 13x20',
    ),
    series('comm_progress_timestamp_seconds', rank, ',comm="0x1"', until),
    series('process_state', rank, ',state="runs"', '1x40'),
    series('heartbeat_timestamp_seconds', rank, '', '0+15x40'),
  ]);
  input.push({ series: 'nccl_trace_comm_info{run="r",comm="0x1",name="world",ranks="4"}', values: '1x400' });
  // Two nodes with two ranks each have two links.
  const links = [1, 3].flatMap((source) =>
    Object.entries({ transfers: 500, bytes: 1e6, transfer_seconds: source === 1 ? 5e-3 : 1e-3 }).map(
      ([name, value]) => ({
        series: `nccl_trace_pair_${name}{run="r",comm="0x1",source="${source}",destination="${(source + 1) % 4}"}`,
        values: `${value}x400`,
      }),
    ),
  );
  // The first scrape sees what was lost before it.
  const losses = [
    { series: 'nccl_trace_recorder_errors_total{run="r",instance="a",rank="0",kind="io"}', values: '5x400' },
    { series: 'nccl_trace_lost_slots{run="r",instance="b",rank="3",cause="dropped"}', values: '_x200 7x200' },
  ];
  // From the 70th minute on an AllReduce gets 7 GB/s instead of 10.
  const fell = { run: 'r', comm: '0x1', name: 'world', function: 'AllReduce', size_class: '1048576' };
  const busbw = Object.entries({ sum: '0+1e12x280 280700000000000+7e11x100', count: '0+100x380' }).map(
    ([name, values]) => ({
      series: `nccl_trace_collective_busbw_bytes_per_second_${name}{run="r",comm="0x1",function="AllReduce",size_class="1048576"}`,
      values,
    }),
  );
  const none = (alertname: string, eval_time: string) => ({ alertname, eval_time, exp_alerts: [] });
  const loses = (eval_time: string, instance: string, rank: string, what: object) => ({
    ...{ alertname: 'NcclRecorderLoses', eval_time },
    exp_alerts: [
      {
        exp_labels: { run: 'r', instance, rank, ...what },
        exp_annotations: { summary: `the recorder of rank ${rank} of run r on ${instance} loses records` },
      },
    ],
  });
  const lags = {
    exp_labels: {
      severity: 'page',
      run: 'r',
      rank: '2',
      comm: '0x1',
      name: 'world',
      function: 'AllReduce',
      instance: 'b',
    },
    exp_annotations: {
      summary: 'rank 2 of run r is 1 AllReduce behind, and communicator world stands still',
    },
  };
  const tests = [
    {
      interval: '15s',
      input_series: [...input, ...links, ...losses, ...busbw],
      alert_rule_test: [
        none('NcclRankLags', '3m'),
        { alertname: 'NcclRankLags', eval_time: '4m45s', exp_alerts: [lags] },
        none('NcclLinkSlow', '9m'),
        {
          alertname: 'NcclLinkSlow',
          eval_time: '11m',
          exp_alerts: [
            {
              exp_labels: { run: 'r', comm: '0x1', name: 'world', source: '1', destination: '2' },
              exp_annotations: {
                summary:
                  'sends from rank 1 to 2 on communicator world in run r take more than twice as long per byte as those of its best link',
              },
            },
          ],
        },
        none('NcclBandwidthFell', '75m'),
        {
          alertname: 'NcclBandwidthFell',
          eval_time: '95m',
          exp_alerts: [
            {
              exp_labels: fell,
              exp_annotations: {
                summary:
                  'AllReduce of 1048576 bytes on communicator world in run r has 7GB/s, a fifth less than an hour ago',
              },
            },
          ],
        },
        none('NcclProcessGone', '4m'),
        none('NcclRecorderSilent', '4m'),
        loses('1m', 'a', '0', { kind: 'io' }),
        none('NcclRecorderLoses', '30m'),
        loses('55m', 'b', '3', { cause: 'dropped' }),
        none('NcclRecorderLoses', '80m'),
      ],
    },
  ];
  const rules = projectFile('examples/prometheus/nccl-trace.rules.yaml');
  const file = path.join(folder, 'test.json');
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '15s', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toMatchObject({ status: 0, stderr: '' });
});
