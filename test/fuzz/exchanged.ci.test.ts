/**
 * What a command looked at is exchanged, thousands of times a second, for a link to another user's files before it is used: nothing there is
 * removed, changed or added, also when root runs the command.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { ALICE, asUser, become, BOB, give, NOT_TWO_USERS, twoHomes } from '../support/program/two_users.js';
import { ageRun } from '../support/rank_files/aged_run.js';

let folder: string;
let remove: () => void;
beforeEach(() => {
  ({ folder, remove } = twoHomes());
});
afterEach(() => {
  remove();
});

const at = (...names: string[]): string => path.join(folder, ...names);

/** `place` is by turns itself and a link to `victim`. */
const EXCHANGE = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
  const [place, victim] = process.argv.slice(1);
  process.stdout.write('begun');
  const quietly = (step, ...args) => { try { step(...args); } catch {} };
  for (;;) {
    quietly(renameSync, place, place + '.real');
    quietly(symlinkSync, victim, place);
    for (const until = performance.now() + Math.random() * 2; performance.now() < until; );
    quietly(unlinkSync, place);
    quietly(renameSync, place + '.real', place);
    for (const until = performance.now() + Math.random() * 2; performance.now() < until; );
  }`;

async function whileExchanged(place: string, victim: string, run: () => void): Promise<void> {
  const [program = '', ...words] = become(ALICE);
  const child = spawn(program, [...words, process.execPath, '-e', EXCHANGE, place, victim]);
  await once(child.stdout, 'data');
  try {
    run();
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/** Names and bytes. */
const contents = (of: string): unknown =>
  Object.fromEntries(readdirSync(of).map((name) => [name, readFileSync(path.join(of, name), 'latin1')]));

function recorded(user: number, sample: string, ...names: string[]): string {
  cpSync(projectFile(`samples/${sample}`), at(...names), { recursive: true });
  give(user, at(...names));
  return at(...names);
}

const CASES: readonly (readonly [command: string, place: string[], words: string[]])[] = [
  ['prune', ['job'], ['.', '--keep', '0', '--all-users', '--even', 'young,hung,broken']],
  ['snapshot', ['out'], ['../../source', '-o', 'out']],
  ['control', ['job', 'rank00000.bin'], ['job', '--events', 'none', '--wait', '0']],
  [
    'watch',
    ['out'],
    ['../../source', '--run', '@2026-11-21T19:02:00', '--linger', '0', '--stacks', 'off', '-o', 'out'],
  ],
];

describe.skipIf(NOT_TWO_USERS !== null)(`two users (${NOT_TWO_USERS ?? 'here'})`, () => {
  it.each(CASES)('%s', async (command, place, words) => {
    recorded(0, 'hang', 'source');
    const victim = recorded(BOB, 'straggler', 'bob', 'his');
    ageRun(victim, 2);
    const before = contents(victim);
    const isFile = place.at(-1)!.endsWith('.bin');
    for (let i = 0; i < 2; i++) {
      const own = recorded(ALICE, 'healthy', 'alice', String(i), 'job');
      ageRun(own, 2);
      mkdirSync(at('alice', String(i), 'out'));
      give(ALICE, at('alice', String(i)));
      const target = isFile ? path.join(victim, 'rank00000.bin') : victim;
      await whileExchanged(at('alice', String(i), ...place), target, () => {
        for (const user of [0, ALICE]) {
          const { code, err } = asUser(user, at('alice', String(i)), command, ...words);
          // It did its work, or says what it could not use; never a stack, and never without an end.
          expect([0, 1, 3, 4], err).toContain(code);
        }
      });
    }
    expect(contents(victim)).toEqual(before);
  });

  it('and would be found: a program that follows the link changes it', async () => {
    const victim = recorded(BOB, 'hang', 'bob', 'his');
    mkdirSync(at('alice', 'out'));
    give(ALICE, at('alice'));
    const before = contents(victim);
    await whileExchanged(at('alice', 'out'), victim, () => {
      for (let i = 0; i < 2000; i++)
        try {
          writeFileSync(at('alice', 'out', `${i}`), '');
        } catch {
          // It was neither, for a moment.
        }
    });
    expect(contents(victim)).not.toEqual(before);
  });
});
