/** Machines with one boot id: containers of one host share its clock. Clones do not, and transfers show that. */

import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ticks } from '../../../src/base/time.js';
import { clockAxes, solveClocks, type ClockWitness } from '../../../src/clocks/domains.js';
import { nameClones } from '../../../src/clocks/evidence/clones.js';
import { writeSteps } from '../../support/made_up/step_rows.js';
import { temporaryFolder } from '../../support/program/temporary_folder.js';

const made = temporaryFolder();
afterAll(() => {
  made.remove();
});

const HZ = 1e9;

const witness = (file: number, hostName: string): ClockWitness => ({
  file,
  header: {
    process: { bootId: 'a', pidNamespace: 1n, pid: 100 + file, startTime: 1n },
    tickSource: 'tsc',
    tickHz: HZ,
    tickBase: 1000n,
    hostName,
  },
  samples: [0, 1, 5].map((second) => ({
    tick: ticks(second * HZ),
    realtime: BigInt(second * 1e9),
    monotonic: BigInt(second * 1e9),
    boottime: BigInt(second * 1e9),
    width: 100,
  })),
});

/** One transfer of 20 µs; the receiver's counter shows `ahead` ns more. */
function clocksAfter(ahead: number, names: readonly [string, string], polls = 1) {
  const sent = 1e6;
  const common = { ordinal: 0, step: 0, bytes: 4096, check: 1, steps: 1, arrives: 1 };
  const path = join(made.folder, `${ahead}${names.join('')}${polls}`);
  const sources = [
    writeSteps(`${path}.s`, true, [{ ...common, before: sent, seen: sent + 3000, polls }]),
    writeSteps(`${path}.r`, false, [
      { ...common, before: sent - 5000 + ahead, seen: sent + 20_000 + ahead, stop: sent + 30_000 + ahead },
    ]),
  ];
  const witnesses = names.map((name, file) => witness(file, name));
  return solveClocks(nameClones(sources, witnesses, clockAxes(witnesses)));
}

describe('two host names with one boot id', () => {
  it('share a clock where no transfer contradicts it', () => {
    const { domains } = clocksAfter(0, ['pod-1', 'pod-2']);
    expect(domains).toHaveLength(1);
    expect(domains[0]!.map.segments[0]!.flags).not.toContain('counter-contradicts-boot');
  });

  it('have clocks of their own after one transfer that arrives before it was sent', () => {
    const { domains } = clocksAfter(-3e6, ['vm-1', 'vm-2']);
    expect(domains.map(({ hostName }) => hostName)).toEqual(['vm-1', 'vm-2']);
    for (const { map } of domains) expect(map.segments[0]!.flags).toContain('counter-contradicts-boot');
  });

  it('have clocks of their own if the transfer arrives 3 µs before it was sent', () => {
    expect(clocksAfter(-23_000, ['vm-1', 'vm-2']).domains).toHaveLength(2);
  });

  it('have clocks of their own if the sender sees room before the receiver made it', () => {
    expect(clocksAfter(3e6, ['vm-1', 'vm-2'], 5).domains).toHaveLength(2);
  });

  it('share a clock if the sender did not wait for room: some networks accept a send before the receiver is ready', () => {
    expect(clocksAfter(3e6, ['vm-1', 'vm-2']).domains).toHaveLength(1);
  });

  it('with one host name count as one', () => {
    expect(clocksAfter(-3e6, ['vm', 'vm']).domains).toHaveLength(1);
  });
});
