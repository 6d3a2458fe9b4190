/** Which processes share a clock, and where the clocks lie on the trace's axis. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ticks } from '../../src/base/time.js';
import { toTrace } from '../../src/clocks/clock_map.js';
import { solveClocks, toLocal, type ClockWitness } from '../../src/clocks/domains.js';
import type { ClockSample } from '../../src/rankfile/file_types.js';

const EPOCH = 1_790_000_000_000_000_000n;
const HZ = 2_999_123_456;

interface Host {
  readonly boot: string;
  /** Counter value at EPOCH. */
  readonly counter: bigint;
  /** Error of the host's wall clock, ns. */
  readonly wallError?: number;
  /** NTP slews it (and CLOCK_MONOTONIC) by 500 ppm from this second on. */
  readonly slewedFrom?: number;
  /** True counter rate over nominal. */
  readonly rate?: number;
}

/** A process on `host` that starts `startNs` after EPOCH and samples its clocks at the given seconds. */
function process(
  file: number,
  host: Host,
  startNs: number,
  seconds: readonly number[] = [0, 1, 2, 5],
): ClockWitness {
  const counterAt = (ns: number): bigint =>
    host.counter + BigInt(Math.round((ns * HZ * (host.rate ?? 1)) / 1e9));
  const tickBase = counterAt(startNs);
  const samples = seconds.map((second): ClockSample => {
    const ns = startNs + second * 1e9;
    const slewed = Math.max(0, ns - (host.slewedFrom ?? Infinity) * 1e9) * 500e-6;
    const realtime = EPOCH + BigInt(Math.round(ns + (host.wallError ?? 0) + slewed));
    return {
      tick: ticks(Number(counterAt(ns) - tickBase)),
      realtime,
      monotonic: realtime - EPOCH,
      boottime: realtime - EPOCH,
      width: 100,
    };
  });
  return {
    file,
    samples,
    header: {
      process: { bootId: host.boot, pidNamespace: 1n, pid: 100 + file, startTime: 1n },
      tickSource: 'tsc',
      tickHz: HZ,
      tickBase,
      hostName: `host-${host.boot}`,
    },
  };
}

/** Trace time of a witness's tick at `ns` after EPOCH by true time. */
function traceAt(witnesses: ClockWitness[], file: number, tick: number): number {
  const solution = solveClocks(witnesses);
  const domain = solution.domains[solution.domainOf[file]!];
  if (!domain) throw new Error('no domain');
  return toTrace(domain.map, toLocal(solution.scales[file]!, tick));
}

describe('one boot', () => {
  const host = { boot: 'a', counter: 77_000_000_000_000_000n };

  it('is one domain, exact, whatever the processes start times', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60_000_000_000 }),
        fc.integer({ min: 0, max: 9_000_000_000 }),
        (start, later) => {
          const witnesses = [process(0, host, 0), process(1, host, start)];
          const solution = solveClocks(witnesses);
          expect(solution.domains).toHaveLength(1);
          expect(solution.domains[0]?.map.segments[0]).toMatchObject({
            source: 'own-counter',
            hardBound: 0,
            flags: [],
          });
          // the same counter value, seen from both files, is the same instant
          const shift = Number(witnesses[1]!.header.tickBase - witnesses[0]!.header.tickBase);
          expect(traceAt(witnesses, 0, later + shift)).toBe(traceAt(witnesses, 1, later));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('begins at the earliest start, with REALTIME as its axis', () => {
    const solution = solveClocks([process(0, host, 3e9), process(1, host, 1e9)]);
    expect(Math.abs(Number(solution.traceStart - EPOCH) - 1e9)).toBeLessThan(100);
  });

  it('takes the rate from the whole run, not from the nominal frequency', () => {
    const off = { ...host, rate: 1 + 40e-6 };
    const witnesses = [process(0, off, 0, [0, 10, 50, 100])];
    expect(Math.abs(traceAt(witnesses, 0, 100 * HZ * off.rate) - 100e9)).toBeLessThan(1000);
  });

  it('is one where its wall clock was slewed for long', () => {
    const slewed = { ...host, slewedFrom: 1000 };
    const times = Array.from({ length: 20 }, (_, i) => 100 * i);
    const witnesses = [
      process(0, slewed, 0, times),
      process(1, slewed, 50e9, times),
      process(2, slewed, 900e9, [0, 5]),
    ];
    const { domains } = solveClocks(witnesses);
    expect(domains.map(({ files }) => files)).toEqual([[0, 1, 2]]);
    expect(domains[0]!.map.segments[0]!.flags).not.toContain('counter-contradicts-boot');
  });

  it('is split and flagged where samples contradict it', () => {
    const restored = { ...host, counter: host.counter - 5_000_000_000_000n };
    const solution = solveClocks([process(0, host, 0), process(1, restored, 0), process(2, host, 1e9)]);
    expect(solution.domains.map((domain) => domain.files)).toEqual([[0, 2], [1]]);
    for (const domain of solution.domains) {
      expect(domain.map.segments[0]?.flags).toContain('counter-contradicts-boot');
    }
  });
});

describe('several boots', () => {
  const a = { boot: 'a', counter: 1_000_000_000n };
  const b = { boot: 'b', counter: 900_000_000_000_000n, wallError: 3e6 };

  it('are placed by REALTIME, flagged, with unbounded error', () => {
    const witnesses = [process(0, a, 0), process(1, b, 0)];
    const solution = solveClocks(witnesses);
    expect(solution.domains).toHaveLength(2);
    for (const { map } of solution.domains) {
      expect(map.segments[0]).toMatchObject({ source: 'realtime', hardBound: Infinity, bound99: Infinity });
      expect(map.segments[0]?.flags).toContain('realtime-only');
    }
    // their distance is the error of the wall clocks, no more
    expect(Math.abs(traceAt(witnesses, 1, HZ) - traceAt(witnesses, 0, HZ) - 3e6)).toBeLessThan(1000);
  });

  it('never give a negative trace time to anything recorded', () => {
    const witnesses = [process(0, a, 5e9), process(1, b, 0)];
    expect(traceAt(witnesses, 0, 0)).toBeGreaterThanOrEqual(0);
    expect(traceAt(witnesses, 1, 0)).toBeGreaterThanOrEqual(0);
  });
});

it('survives a run too short for a slope, and a stepped wall clock', () => {
  const host = { boot: 'a', counter: 5n };
  expect(traceAt([process(0, host, 0, [0, 0.001])], 0, HZ)).toBe(1e9);
  const witness = process(0, host, 0, [0, 1, 2, 3]);
  const stepped = witness.samples.map((sample, i) =>
    i < 2 ? sample : { ...sample, realtime: sample.realtime + 30_000_000n },
  );
  const rate =
    (traceAt([{ ...witness, samples: stepped }], 0, 3 * HZ) -
      traceAt([{ ...witness, samples: stepped }], 0, 0)) /
    3e9;
  expect(rate).toBe(1);
});

it('keeps one domain when the wall clock is stepped by an hour in mid-run, whoever sampled when', () => {
  const host = { boot: 'a', counter: 5n };
  const stepped = (witness: ClockWitness): ClockWitness => ({
    ...witness,
    samples: witness.samples.map((sample) =>
      sample.monotonic < 2_500_000_000n
        ? sample
        : { ...sample, realtime: sample.realtime + 3_600_000_000_000n },
    ),
  });
  const witnesses = [process(0, host, 0, [0, 1, 2, 3, 4]), process(1, host, 5e8, [0, 1, 2, 3])].map(stepped);
  const solution = solveClocks(witnesses);
  expect(solution.domains).toHaveLength(1);
  expect(solution.domains[0]?.map.segments[0]?.flags).toEqual(['realtime-stepped']);
  expect(traceAt(witnesses, 1, 0) - traceAt(witnesses, 0, 0)).toBe(5e8);
});

describe('a date that cannot be true', () => {
  const [mine, others] = [
    { boot: 'a', counter: 5n },
    { boot: 'b', counter: 9n },
  ];
  const FIFTY_YEARS = 50n * 365n * 86_400_000_000_000n;
  /** Until `from`, ns of MONOTONIC, its machine was fifty years behind. */
  const behind = (witness: ClockWitness, from: bigint): ClockWitness => ({
    ...witness,
    samples: witness.samples.map((sample) =>
      sample.monotonic < from ? { ...sample, realtime: sample.realtime - FIFTY_YEARS } : sample,
    ),
  });
  const flagsOf = (witnesses: readonly ClockWitness[]): readonly (readonly string[])[] =>
    solveClocks(witnesses).domains.map(({ map }) => map.segments[0]!.flags);
  const whole = [process(0, others, 0, [0, 1, 2, 3]), process(1, mine, 5e8, [0, 1, 2, 3])];

  it.each([1_500_000_000n, 2_500_000_000n])('is not followed if it was set in mid-run, at %d ns', (from) => {
    const witnesses = [whole[0]!, behind(whole[1]!, from)];
    expect(flagsOf(witnesses)[1]).toEqual(['realtime-stepped', 'realtime-only']);
    const late = traceAt(witnesses, 1, 0) - traceAt(witnesses, 0, 0);
    expect(Math.abs(late - (traceAt(whole, 1, 0) - traceAt(whole, 0, 0)))).toBeLessThan(1e6);
  });

  it('does not move the others: its machine begins with the last of them', () => {
    const witnesses = [
      whole[0]!,
      behind(whole[1]!, 1n << 62n),
      process(2, { boot: 'c', counter: 7n }, 1e9, [0, 1, 2]),
    ];
    expect(flagsOf(witnesses)[1]).toEqual(['realtime-impossible', 'realtime-only']);
    expect(traceAt(witnesses, 2, 0) - traceAt(witnesses, 0, 0)).toBe(1e9);
    expect(solveClocks(witnesses).traceStart).toBe(solveClocks(whole).traceStart);
    expect(traceAt(witnesses, 1, 0)).toBeLessThan(2e9);
  });
});
