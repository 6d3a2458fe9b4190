/**
 * The table "who may run it, what it opens, what it writes" of SECURITY.md, line by line, with two users beside root: nothing of one user is
 * overwritten, removed or led elsewhere by another.
 */

import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { filesBelow, removeFiles } from '../../src/cli/old_files.js';
import { newIncident } from '../../src/live/incident.js';
import { HeldFolder } from '../../src/output/held_folder.js';
import { ageRun } from '../support/rank_files/aged_run.js';
import { ALICE, asUser, BOB, give, NOT_TWO_USERS, shellAs, twoHomes } from '../support/program/two_users.js';

let folder: string;
let remove: () => void;
beforeEach(() => {
  ({ folder, remove } = twoHomes());
});
afterEach(() => {
  remove();
});

const at = (...names: string[]): string => path.join(folder, ...names);

/** A recorded run in a folder of this user. */
function recorded(user: number, sample: string, ...names: string[]): string {
  const to = at(...names);
  cpSync(projectFile(`samples/${sample}`), to, { recursive: true });
  give(user, to);
  return to;
}

describe.skipIf(NOT_TWO_USERS !== null)(`two users (${NOT_TWO_USERS ?? 'here'})`, () => {
  describe('watch', () => {
    const HANG = ['--run', '@2026-11-21T19:02:00', '--linger', '0', '--stacks', 'off'];

    it('of root takes no incident into the folder of a user, and says where', () => {
      const job = recorded(ALICE, 'hang', 'alice', 'job');
      const { code, out, err } = asUser(0, folder, 'watch', job, ...HANG);
      expect({ code, out }).toEqual({ code: 4, out: '' });
      expect(err).toContain(
        `${job}/incidents: ${job} belongs to user ${ALICE}; ` +
          'name a folder that only root can change: --output /var/lib/nccl-trace/incidents\n',
      );
      expect(readdirSync(job)).not.toContain('incidents');
      expect(asUser(0, folder, 'watch', job, ...HANG, '--act-on', 'none')).toMatchObject({ code: 0 });
    });

    it.each<[string, number, () => unknown, RegExp]>([
      [
        'that another user made in a shared folder',
        BOB,
        () => shellAs(ALICE, at('shared'), 'mkdir incidents'),
        /shared\/incidents belongs to user 54321/,
      ],
      [
        'that is a link of another user',
        0,
        () => shellAs(ALICE, at('shared'), `ln -s ${at('alice')} incidents`),
        /alice belongs to user 54321/,
      ],
      [
        'in a folder that all may write to',
        BOB,
        () => {
          chmodSync(at('shared'), 0o777);
        },
        /shared may be changed by other users/,
      ],
    ])('takes no incident into a folder %s, of user %i', (_, user, prepare, why) => {
      mkdirSync(at('shared'));
      chmodSync(at('shared'), 0o1777);
      prepare();
      const job = recorded(user, 'hang', `job${user}`);
      const { code, err } = asUser(user, folder, 'watch', job, ...HANG, '-o', at('shared', 'incidents'));
      expect(code).toBe(4);
      expect(err).toMatch(why);
    });

    it.each([0, ALICE])('of user %i keeps what it takes to itself, beside others', (user) => {
      mkdirSync(at('shared'));
      chmodSync(at('shared'), 0o1777);
      const job = recorded(user, 'hang', `job${user}`);
      const { code, err } = asUser(user, folder, 'watch', job, ...HANG, '-o', at('shared', 'incidents'));
      expect(err).toContain(`incident: ${at('shared', 'incidents')}/2`);
      expect(code).toBe(0);
      const [incident = ''] = readdirSync(at('shared', 'incidents'));
      const facts = (...names: string[]): unknown => {
        const { uid, mode } = statSync(at('shared', 'incidents', ...names));
        return { uid, mode: mode & 0o777 };
      };
      expect(facts()).toEqual({ uid: user, mode: 0o700 });
      expect(facts(incident)).toEqual({ uid: user, mode: 0o700 });
      expect(facts(incident, 'incident.json')).toEqual({ uid: user, mode: 0o600 });
    });

    it('goes on writing where it began when another user puts a link in place of the folder', () => {
      mkdirSync(at('alice', 'incidents'));
      const held = HeldFolder.named(at('alice', 'incidents'));
      const alarm = { kind: 'hung', files: [], ranks: '', headline: '' } as const;
      shellAs(ALICE, at('alice'), 'mv incidents before && mkdir victim && ln -s victim incidents');
      const incident = newIncident(held, new Date(0), alarm);
      writeFileSync(incident.at('incident.json'), '', { flag: 'wx' });
      const [name = ''] = readdirSync(at('alice', 'before'));
      expect(name).toMatch(/^19700101T000000Z-hung-/);
      expect(readdirSync(at('alice', 'before', name))).toEqual(['incident.json']);
      expect(readdirSync(at('alice', 'victim'))).toEqual([]);
      // No link is followed on the way down either.
      shellAs(ALICE, at('alice'), 'ln -s victim link');
      const alice = HeldFolder.named(at('alice'));
      expect(() => alice.folder('link')).toThrow('ENOTDIR');
      for (const one of [held, incident, alice]) one.close();
    });
  });

  describe('prune', () => {
    const files = (...names: string[]): string[] =>
      readdirSync(at(...names)).filter((name) => name.endsWith('.bin'));
    const old = (user: number, sample: string, ...names: string[]): void => {
      ageRun(recorded(user, sample, ...names), 2);
    };

    it('removes nothing of another user, unless root asks for it', () => {
      mkdirSync(at('all'));
      old(ALICE, 'healthy', 'all', 'hers');
      old(0, 'straggler', 'all', 'own');
      const { out, err } = asUser(0, folder, 'prune', 'all', '--keep', '0', '--dry-run');
      expect(err).toContain(`kept, it belongs to user ${ALICE} (--all-users removes it)`);
      expect(out).toMatch(/^would remove .*\n( {2}all\/own\/rank0000\d\.bin\n)+$/);
      expect(asUser(0, folder, 'prune', 'all', '--keep', '0')).toMatchObject({ code: 0 });
      expect([files('all', 'hers').length, existsSync(at('all', 'own', 'rank00000.bin'))]).toEqual([
        8,
        false,
      ]);
      asUser(0, folder, 'prune', 'all', '--keep', '0', '--all-users');
      expect(files('all', 'hers')).toEqual([]);
    });

    it('does not leave the directory by a link that a user put there, as root neither', () => {
      mkdirSync(at('all'));
      chmodSync(at('all'), 0o1777);
      old(BOB, 'healthy', 'bob', 'his');
      shellAs(
        ALICE,
        at('all'),
        `ln -s ${at('bob', 'his')} run; mkdir job; ln -s ${at('bob', 'his')} job/run`,
      );
      asUser(0, folder, 'prune', 'all', '--keep', '0', '--all-users', '--even', 'young,hung,broken');
      expect(files('bob', 'his')).toHaveLength(8);
    });

    it('does not follow a folder that was replaced by a link after it was looked at', () => {
      old(ALICE, 'healthy', 'alice', 'job');
      old(BOB, 'healthy', 'bob', 'his');
      const held = HeldFolder.named(at('alice'));
      const found = filesBelow(held);
      shellAs(ALICE, at('alice'), `mv job before; ln -s ${at('bob', 'his')} job`);
      removeFiles(held, found, () => true);
      expect([files('alice', 'before').length, files('bob', 'his').length]).toEqual([8, 8]);
      shellAs(ALICE, at('alice'), 'rm job; mv before job');
      removeFiles(held, found, () => true);
      expect(files('alice', 'job')).toEqual([]);
      held.close();
    });
  });

  it.each(['merge', 'snapshot'])(
    '%s removes no folder that another user gave the name of a work folder',
    (command) => {
      const run = recorded(ALICE, 'hang', 'alice', 'run');
      mkdirSync(at('shared'));
      chmodSync(at('shared'), 0o777);
      shellAs(ALICE, at('shared'), 'mkdir precious && touch precious/work');
      shellAs(BOB, at('shared'), 'mv precious .nccl-trace-work.abcdef; mkdir .nccl-trace-work.ghijkl');
      const args = { merge: ['-o', 'shared/run.pftrace'], snapshot: ['-o', 'shared'] }[command]!;
      expect(asUser(ALICE, folder, command, run, ...args)).toMatchObject({ code: 0 });
      expect(readdirSync(at('shared'))).toEqual(
        expect.arrayContaining(['.nccl-trace-work.abcdef', '.nccl-trace-work.ghijkl']),
      );
      expect(readdirSync(at('shared', '.nccl-trace-work.abcdef'))).toEqual(['work']);
    },
  );
});
