/** `watch` beside a job: a rank that dies is announced with its name, and what is needed later lies in one folder. */

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import type { Incident } from '../../src/live/incident.js';
import { startRecording } from '../support/jobs/loopback.js';
import { runHere } from '../support/program/command_line.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { startWatch } from './watched.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const recording = (): string => path.join(folder, 'recording');

it('a killed rank is named at once, and its incident has the files, the processes and the verdict', async () => {
  const job = startRecording(folder, '--ranks 3 --fault kill:1@2 --hang-seconds 100 --timeout 120');
  const copy = path.join(folder, 'verdict.json');
  const { ended, says } = startWatch(
    ...[recording(), '--every', '1', '--linger', '0', '--fail-on', 'hung,broken', '--json'],
    ...['--exec', `cat > ${copy}; echo "$NCCL_TRACE_VERDICT of $NCCL_TRACE_RANKS in $NCCL_TRACE_FOLDER" >&2`],
  );
  await says(/hung of 1 in .*Z-hung-\S+\n/);
  job.end();
  await job.ended;
  const { code, out, err } = await ended;
  expect(code).toBe(5);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.find(({ change }) => change === 'hung')).toMatchObject({
    headline: expect.stringMatching(/^HUNG: .* on world \(3 ranks\): rank 1 fell silent/) as string,
    diagnosis: { verdict: { kind: 'hung' } },
  });
  const [name] = readdirSync(path.join(recording(), 'incidents'));
  const incident = path.join(recording(), 'incidents', name!);
  expect(lines.filter((line) => 'incident' in line)).toMatchObject([{ folder: incident }]);
  expect(readdirSync(incident).sort()).toEqual([
    ...['incident.json', 'rank00000.bin', 'rank00001.bin', 'rank00002.bin'],
  ]);
  const taken = JSON.parse(readFileSync(path.join(incident, 'incident.json'), 'utf8')) as Incident;
  // Its process is gone. The others are no suspects.
  expect(taken).toMatchObject({ kind: 'hung', ranks: '1', missing: [] });
  expect(taken.suspects).toEqual([
    { ranks: [1], file: 'rank00001.bin', process: null, why: null, stacks: null },
  ]);
  expect(err).toContain(`next: nccl-trace report ${incident} -o incident.html`);
  await runHere(folder, 'report', incident, '-qo', 'incident.html', '--no-trace');
  expect(readFileSync(path.join(folder, 'incident.html'), 'utf8')).toContain('Rank 1: its process had ended');
  const { out: verdict } = await runHere(folder, 'inspect', incident);
  expect(verdict).toMatch(/^HUNG .*: rank 1 fell silent\n/);
  expect(JSON.parse(readFileSync(copy, 'utf8'))).toMatchObject({
    ...{ kind: 'hung', folder: incident, diagnosis: { verdict: { kind: 'hung' } } },
  });
});

it.each([
  '',
  '{',
  '{"version":1}',
  '{"version":1,"at":"x","suspects":[{"ranks":[1],"process":{},"stacks":null}]}',
])('a page leaves out an incident that is not whole: %s', async (content) => {
  cpSync(projectFile('samples/hang'), folder, { recursive: true });
  writeFileSync(path.join(folder, 'incident.json'), content);
  expect(await runHere(folder, 'report', '.', '-qo', 'page.html', '--no-trace')).toMatchObject({
    code: 0,
    err: '',
  });
  expect(readFileSync(path.join(folder, 'page.html'), 'utf8')).not.toContain('id="processes"');
});

it('says nothing of a healthy job, and ends with it', async () => {
  mkdirSync(recording());
  const watcher = startWatch(recording(), '--every', '1', '--linger', '0');
  await watcher.says(/waits for rank files in /);
  await startRecording(folder, '--ranks 2 --iterations 40 --ops allreduce:64K,sleep:50ms').ended;
  const { code, out } = await watcher.ended;
  expect({ code, out }).toEqual({ code: 0, out: '' });
});

describe('the command line', () => {
  it.each([
    [['--act-on', 'hnug'], /must be of hung,broken,mismatch,slow,unclear, or none.*did you mean hung\?/],
    [['--every', '0'], /--every .* must be a number of seconds from 1 to 3600/],
    [['--stacks', 'all'], /--stacks/],
  ])('%j is an error', async (args, words) => {
    const { code, err } = await runHere(folder, 'watch', '.', ...args);
    expect(code).toBe(2);
    expect(err.replaceAll('\n', ' ')).toMatch(words);
  });
});

it.each([
  ['healthy', 0, '', 'HEALTHY: everything that began also ended'],
  ['straggler', 5, 'SLOW: rank 2 ', 'SLOW: rank 2 '],
])(
  'a run that is over (%s) has the verdict of inspect, and its exit code',
  async (sample, code, told, note) => {
    const run = projectFile(`samples/${sample}`);
    const named = await runHere(folder, 'inspect', run, '--run', 'list');
    const name = /@\S+/.exec(named.out)![0];
    const watched = startWatch(
      ...[run, '--run', name, '--linger', '0', '--fail-on', 'slow', '--act-on', 'none'],
    );
    const { out, err, code: ended } = await watched.ended;
    expect(ended).toBe(code);
    expect(out.slice(out.indexOf('  ') + 2)).toMatch(told === '' ? /^$/ : new RegExp(`^${told}.*\n$`));
    expect(err).toContain(`the run is over. ${note}`);
  },
);
