/** Clocks whose rates change as in a machine room. Each function gives the deviation from offset and rate, in ns, at a true time in ns. */

import { normal, seeded, type Simulation } from './simulated_links.js';

export type Wander = NonNullable<Simulation['wander']>;

/** ppm a minute → 1/ns. */
const perNs = (ppmPerMinute: number): number => (ppmPerMinute * 1e-6) / 60e9;

/** Rates swing, by `ppmPerMinute` at the fastest. Hosts differ in phase. */
export function sine(ppmPerMinute: number, periodSeconds: number, seed: number): Wander {
  const random = seeded(seed + 700);
  const phases = Array.from({ length: 64 }, () => 2 * Math.PI * random());
  const turn = (2 * Math.PI) / (periodSeconds * 1e9);
  const amplitude = perNs(ppmPerMinute) / turn ** 2;
  return (host, time) => {
    const phase = phases[host % 64]!;
    return amplitude * (Math.sin(turn * time + phase) - Math.sin(phase) - turn * time * Math.cos(phase));
  };
}

/** Rates rise all the time, or fall all the time. */
export const ramp =
  (ppmPerMinute: number): Wander =>
  (host, time) =>
    ((host % 2 ? 1 : -1) * perNs(ppmPerMinute) * time * time) / 2;

/** One host in three warms up after a start, fast at first and then slower and slower. */
export function warmUp(ppmPerMinute: number, constantSeconds: number): Wander {
  const constant = constantSeconds * 1e9;
  const most = perNs(ppmPerMinute);
  return (host, time) => {
    if (host % 3 !== 1) return 0;
    return most * constant * (time - constant * (1 - Math.exp(-time / constant)));
  };
}

/** The rate changes at another pace every ten seconds, no faster than `ppmPerMinute`. */
export function randomWalk(ppmPerMinute: number, hosts: number, seconds: number, seed: number): Wander {
  const random = seeded(seed + 900);
  const step = 10e9;
  const count = Math.ceil((seconds * 1e9) / step) + 2;
  const walks = Array.from({ length: hosts }, () => {
    const phases = new Float64Array(count + 1);
    const rates = new Float64Array(count + 1);
    const bends = Float64Array.from(
      { length: count },
      () => Math.max(-1, Math.min(1, normal(random) / 2)) * perNs(ppmPerMinute),
    );
    for (let i = 0; i < count; i++) {
      rates[i + 1] = rates[i]! + bends[i]! * step;
      phases[i + 1] = phases[i]! + rates[i]! * step + (bends[i]! * step * step) / 2;
    }
    return { phases, rates, bends };
  });
  return (host, time) => {
    const { phases, rates, bends } = walks[host]!;
    const i = Math.min(count - 1, Math.max(0, Math.floor(time / step)));
    const since = time - i * step;
    return phases[i]! + rates[i]! * since + (bends[i]! * since * since) / 2;
  };
}

/** Fans that start and stop: each rate rises, then falls, by `ppmPerMinute`, each time for 20 to 90 s. */
export function fans(ppmPerMinute: number, hosts: number, seconds: number, seed: number): Wander {
  const random = seeded(seed + 1100);
  const hostStretches = Array.from({ length: hosts }, () => {
    const stretches: { from: number; phase: number; rate: number; bend: number }[] = [];
    let [from, phase, rate] = [0, 0, 0];
    let bend = (random() < 0.5 ? 1 : -1) * perNs(ppmPerMinute);
    while (from < 2 * seconds * 1e9) {
      const lasts = (20 + 70 * random()) * 1e9;
      stretches.push({ from, phase, rate, bend });
      phase += rate * lasts + (bend * lasts * lasts) / 2;
      rate += bend * lasts;
      from += lasts;
      bend = -bend;
    }
    return stretches;
  });
  return (host, time) => {
    const stretches = hostStretches[host]!;
    const { from, phase, rate, bend } = stretches.findLast((one) => one.from <= time) ?? stretches[0]!;
    const since = time - from;
    return phase + rate * since + (bend * since * since) / 2;
  };
}
