/** NCCL's RAS beside rank files: what both say and what only one knows, on real answers, and of a server that stalls, cuts or lies. */

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { readRas } from '../../src/foreign/ras_answer.js';
import { besideRas } from '../../src/foreign/ras_beside.js';
import { rasLines } from '../../src/report/ras_text.js';
import { rasDiagnosticsFrom, rasFrom } from '../../src/foreign/ras_source.js';
import type { Incident } from '../../src/live/incident.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { runHere } from '../support/program/command_line.js';
import { runProgram } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();
const fileOf = (name: string): string => path.join(root, 'test/fixtures/ras', `${name}.json`);
const textOf = (name: string): string => readFileSync(fileOf(name), 'utf8');
const ourComm = (name: string, ranks: readonly number[]) => {
  const { hash } = readRas(textOf(name)).communicators.find(({ nRanks }) => nRanks === 4)!;
  return { commId: `0x${hash.toString(16).padStart(16, '0')}`, comm: 'world', ranks };
};
const saidOf = (name: string, ranks: readonly number[] = [0, 1, 2, 3]): readonly string[] =>
  besideRas(readRas(textOf(name)), [ourComm(name, ranks)], null).says;

/** What the lines about RAS say together. */
async function inspected(run: string, source: string, ...more: string[]): Promise<string> {
  const { out } = await runHere(root, 'inspect', run, '--ras', source, ...more);
  const lines = out.split('\n').map((line) => line.trim());
  const from = lines.findIndex((line) => line.startsWith('RAS:'));
  const said = lines.slice(
    from,
    lines.findIndex((line) => line.startsWith('(RAS')),
  );
  for (const line of said) expect(line.length).toBeLessThanOrEqual(80);
  return said.join(' ');
}

describe('an answer beside the rank files of the same job', () => {
  it('more sentences than a screen has room for are counted, and are all in the JSON', () => {
    const says = Array.from({ length: 8 }, (_, i) => `sentence ${i}`);
    const lines = rasLines({ version: '2.30.7', at: 'noon', says });
    expect(lines[5]!.trim()).toBe('sentence 5');
    expect(lines[6]!.trim()).toBe('2 more sentences are in --json');
  });

  it('both say which rank did not call; only ours since when', async () => {
    const run = unpackRecording('ras/missing-rank', folder);
    const said =
      'RAS:            rank 2 called AllReduce 15 times on world, others up to 17 times, so by RAS, too, it never entered seq 15; since when, and at which step, only our records say';
    expect(await inspected(run, fileOf('missing-rank'))).toBe(said);
    const { out } = await runHere(root, 'inspect', run, '--ras', fileOf('missing-rank'), '--json');
    const [{ diagnosis }] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { diagnosis: { ras: unknown } }) as [
      { diagnosis: { ras: unknown } },
    ];
    expect(diagnosis.ras).toEqual({ version: '2.30.7', at: '2026-11-28 12:15:33', says: [said.slice(16)] });
    // The hash has a leading zero, which RAS leaves out. Another job's answer is told as such.
    expect(await inspected(run, fileOf('killed-rank'))).toContain(
      'no communicator of RAS is in these rank files: it is another job',
    );
  });

  it('ranks whose files are on other nodes: RAS alone knows of them', async () => {
    const run = unpackRecording('ras/missing-rank', path.join(folder, 'half'));
    const half = [0, 1].map((rank) => path.join(run, `rank0000${rank}.bin`));
    const { out } = await runHere(root, 'inspect', ...half, '--ras', fileOf('missing-rank'));
    const said = out.replace(/\s+/g, ' ');
    expect(said).toContain('so by RAS rank 2 never entered seq 15, of which there is no file here');
    expect(said).toContain('ranks 2-3 of world answer and have no file here');
  });

  it('captured graphs: RAS does not count them unless KernelCh is on, and that is said', async () => {
    const run = unpackRecording('ras/captured-graph', folder);
    expect(await inspected(run, fileOf('captured-graph'))).toBe(
      'RAS:            rank 0 called AllReduce once on world, others up to 2 times; it does not count the 8 replays of captured graphs, which only our records have',
    );
    expect(saidOf('captured-graph-with-kernelch')).toEqual([
      'rank 0 called AllReduce 9 times on world, others up to 10 times',
    ]);
  });

  it('a process that is gone, and an error of another rank; --redact hides the host', async () => {
    expect(saidOf('killed-rank')).toEqual([
      'rank 2 of world does not answer (pid 23378 on 127.0.0.1)',
      'rank 3 of world reports asynchronous error 6 (ncclResult_t)',
    ]);
    const run = unpackRecording('ras/missing-rank', path.join(folder, 'redacted'));
    expect(await inspected(run, fileOf('killed-rank'), '--redact')).not.toContain('127.0.0.1');
  });

  it('a rank that the answer leaves out is said to be left out', () => {
    const answer = readRas(textOf('missing-rank'));
    const communicators = answer.communicators.map((one) => ({ ...one, ranks: one.ranks.slice(1) }));
    const { says } = besideRas({ ...answer, communicators }, [ourComm('missing-rank', [0, 1, 2, 3])], null);
    expect(says).toContain('RAS says nothing of 1 of the 4 ranks of world');
    expect(saidOf('missing-rank').join()).not.toContain('says nothing');
  });

  it('a rank that is not at its place in the communicator is called by its rank of the job', () => {
    const our = { ...ourComm('missing-rank', [4, 5, 6, 7]), inComm: { 0: 7, 1: 6, 2: 5, 3: 4 } };
    const { says } = besideRas(readRas(textOf('missing-rank')), [our], null);
    expect(says[0]).toMatch(/^rank 5 called AllReduce 15 times/);
  });
});

describe('an answer that is not whole is refused', () => {
  const whole = textOf('missing-rank');

  it('cut at any byte', () => {
    for (let end = 0; end < whole.trimEnd().length; end += 7)
      expect(() => readRas(whole.slice(0, end))).toThrow(/is empty|is cut off/);
  });

  it.each([
    ['a rank less than it says', /"ranks_count": 4/, '"ranks_count": 5', 'says ranks_count 5 and lists 4'],
    [
      'communicators',
      /"communicators_count": 2/,
      '"communicators_count": 3',
      'communicators_count 3 and lists 2',
    ],
    ['a rank twice', /"rank": 1,/, '"rank": 0,', 'names ranks twice'],
    ['a rank too many', /"rank": 1,/, '"rank": 9,', 'names ranks twice, or more than'],
    ['a count below zero', /"AllReduce": 5/, '"AllReduce": -5', 'no whole number where AllReduce'],
    ['no end', /"ras":/, '"other":', 'no fields where ras should be'],
    ['another hash', /"0x49994c6991c1df7"/, '"world"', 'has no hash where world is'],
  ])('%s', (_, from, to, why) => {
    expect(() => readRas(whole.replace(from, to))).toThrow(why);
  });
});

describe('a RAS that is asked over its port', () => {
  let server: Server | null = null;
  const sockets: Socket[] = [];
  afterEach(() => {
    sockets.splice(0).forEach((socket) => socket.destroy());
    server?.close();
  });

  /** Answers as RAS does. `change`: what it does to its last answer, or at a line. */
  async function serve(answer: (line: string, socket: Socket) => void): Promise<string> {
    server = createServer((socket) => {
      sockets.push(socket);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          answer(text.slice(0, end), socket);
          text = text.slice(end + 1);
        }
      });
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const answers =
    (last: string) =>
    (line: string, socket: Socket): void => {
      if (line === 'CLIENT PROTOCOL 2') socket.write('SERVER PROTOCOL 2\n');
      else if (line.startsWith('TIMEOUT') || line === 'SET FORMAT json') socket.write('OK\n');
      else if (line === 'VERBOSE STATUS') socket.end(last);
    };

  it('gives what the file gives, also byte by byte', async () => {
    const expected = await rasFrom(fileOf('missing-rank'));
    expect(await rasFrom(await serve(answers(textOf('missing-rank'))))).toEqual(expected);
    server!.close();
    const slowly = await serve((line, socket) => {
      const send = (text: string): void => {
        for (const one of text.split('')) socket.write(one);
      };
      if (line.startsWith('CLIENT')) send('SERVER PROTOCOL 2\n');
      else if (line.startsWith('VERBOSE')) socket.end(textOf('missing-rank'));
      else send('OK\n');
    });
    expect(await rasFrom(slowly)).toEqual(expected);
  });

  it.each<[string, (line: string, socket: Socket) => void, RegExp]>([
    ['stalls', () => undefined, /did not answer in full within 0\.3 s$/],
    [
      'stalls in its answer',
      (line, socket) => {
        if (line.startsWith('VERB')) socket.write('{');
        else answers('')(line, socket);
      },
      /did not answer in full/,
    ],
    ['cuts', answers(textOf('missing-rank').slice(0, 2000)), /is cut off/],
    [
      'lies',
      answers(textOf('missing-rank').replace('"ranks_count": 4', '"ranks_count": 3')),
      /is not complete/,
    ],
    [
      'is a web server',
      (_, socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /is no RAS, or refuses JSON: it says "HTTP\/1.1 400/,
    ],
    ['closes at once', (_, socket) => void socket.end(), /closed before it answered/],
    [
      'never ends its line',
      (_, socket) => void socket.write('x'.repeat(9000)),
      /its first line does not end/,
    ],
  ])('%s', async (_, answer, why) => {
    const source = await serve(answer);
    await expect(rasFrom(source, 300)).rejects.toThrow(why);
    await expect(rasFrom(source, 300)).rejects.toThrow(source);
  });

  it('is not there: the verdict holds without it, and the problem is told', async () => {
    const run = unpackRecording('ras/captured-graph', path.join(folder, 'alone'));
    const { code, out, err } = await runHere(root, 'inspect', run, '--ras', 'localhost:1', '--strict');
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      expect.stringContaining('AllReduce seq 1 replay 8 on world'),
    ]);
    expect(err).toMatch(/localhost:1: RAS cannot be reached \(ECONNREFUSED\).*; RAS is left out/);
    const cut = path.join(folder, 'cut.json');
    writeFileSync(cut, textOf('missing-rank').slice(0, 900));
    expect((await runHere(root, 'inspect', run, '--ras', cut)).err).toContain('is cut off');
  });

  it('watch asks it at each change', async () => {
    const run = unpackRecording('ras/missing-rank', path.join(folder, 'watched'));
    const args = [
      '--run',
      '@2026-11-28T12:15:20',
      '--ras',
      fileOf('missing-rank'),
      '--linger',
      '0',
      '--act-on',
      'none',
    ];
    const { out } = await runProgram(root, 'watch', run, ...args);
    expect(out.toString()).toMatch(
      /AllReduce seq 15 on world[^\n]*\n[^\n]* RAS: rank 2 called AllReduce 15 times on world/,
    );
  });

  it('is asked for diagnostics, which an older NCCL does not know', async () => {
    const found =
      'node7:42 NCCL DIAG GPU 3: 2 uncorrectable ECC errors\nnode7:42 NCCL DIAG RAS diagnostics completed in 3.1 ms across 4 RAS peers\n';
    const diagnosing = (text: string, isOver: boolean) =>
      serve((line, socket) => {
        if (line !== 'DIAGNOSTICS') answers('')(line, socket);
        else if (isOver) socket.end(text);
        else socket.write(text);
      });
    expect(await rasDiagnosticsFrom(await diagnosing(found, true))).toBe(found);
    server!.close();
    const old = await diagnosing('ERROR: Unknown command DIAGNOSTICS\n', false);
    await expect(rasDiagnosticsFrom(old)).rejects.toThrow(
      `${old}: RAS refuses: it says "ERROR: Unknown command`,
    );
    server!.close();
    const cut = await diagnosing(found.slice(0, 40), true);
    await expect(rasDiagnosticsFrom(cut)).rejects.toThrow('cut off');
  });

  it('of a job with an incident: the answer of the moment is kept beside the evidence', async () => {
    const run = unpackRecording('ras/missing-rank', path.join(folder, 'kept'));
    const output = path.join(folder, 'incidents');
    const source = await serve((line, socket) => {
      if (line === 'DIAGNOSTICS') socket.write('ERROR: Unknown command DIAGNOSTICS\n');
      else answers(textOf('missing-rank'))(line, socket);
    });
    const about = [
      '--run',
      '@2026-11-28T12:15:20',
      '--ras',
      source,
      '--linger',
      '0',
      '--stacks',
      'off',
      '-o',
      output,
    ];
    const { err } = await runProgram(root, 'watch', run, ...about);
    const [incident = ''] = readdirSync(output);
    const kept = path.join(output, incident);
    expect(readFileSync(path.join(kept, 'ras.json'), 'utf8')).toBe(textOf('missing-rank'));
    const { ras, missing } = JSON.parse(readFileSync(path.join(kept, 'incident.json'), 'utf8')) as Incident;
    expect(ras).toEqual(['ras.json']);
    expect(missing.join()).toMatch(/ras-diagnostics\.txt: .*RAS refuses: it says "ERROR: Unknown command/);
    expect(err).toMatch(/incident: .*ras\.json/);
    // It is an answer like any other.
    const { out } = await runHere(root, 'inspect', run, '--ras', path.join(kept, 'ras.json'));
    expect(out).toContain('by RAS, too');
  });
});
