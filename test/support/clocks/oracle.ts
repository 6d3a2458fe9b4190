/**
 * The best possible estimate from the same evidence: least squares with a knot every 5 s. Unlike our alignment, it knows each clock's offset
 * and rate, and how much rates change.
 */

import { ALIGNMENT_DEFAULTS } from '../../../src/clocks/alignment.js';
import { correctionAt, type Knots } from '../../../src/clocks/corrections.js';
import type { EdgeEvidence, EvidenceKind } from '../../../src/clocks/evidence.js';
import { SparseLeastSquares } from '../../../src/clocks/least_squares.js';
import { addBendRows } from '../../../src/clocks/rate_changes.js';
import { addRatePriors, terms, unknownPlaces } from '../../../src/clocks/unknowns.js';
import type { SimulatedRun } from './simulated_links.js';

const STEP_NS = 5e9;
const WINDOW_NS = 2.5e9;
const SCATTER_NS = 1000;
/** Delays of similar links differ by this part. */
const ALIKE = 0.15;
const LIKE_DELAY = 15_000;
const UNHEARD = 1e6;
const ONE_WIRE_NS = 100;
/** Standard errors, of a normal distribution. */
const OF_99 = 2.58;
const PASSES = 15;
const BELOW = 0.1;

export interface Best {
  /** Errors of pairs of hosts at each of the instants, ns. */
  readonly errors: readonly number[];
  /** The 99 % half-width, ns, if nothing but the similarity of links is known. */
  readonly halfWidths: readonly number[];
}

/** `wander`: the fastest change of a rate, 1/ns. */
export function oracle(run: SimulatedRun, wander: number, instants: readonly number[]): Best {
  const { edges, hosts, seconds, steady } = run;
  const knots: Knots = { first: 0, step: STEP_NS, count: Math.ceil((seconds * 1e9) / STEP_NS) + 1 };
  const place = unknownPlaces(new Array<number>(hosts).fill(0), knots);
  const likes = [...new Set(edges.map(({ like }) => like))];
  const links = place.count;
  const unknowns = place.count + edges.length + likes.length;
  const blocks = { count: place.solved.length, size: knots.count };
  const system = new SparseLeastSquares(unknowns, blocks);
  const known = new SparseLeastSquares(unknowns, { ...blocks, shared: edges.length + likes.length });
  const rows: number[] = [];
  edges.forEach((edge, link) => {
    const least = new Map<number, readonly [time: number, delay: number]>();
    for (const { hull } of edge.windows) {
      for (let i = 0; i < hull.length; i += 2) {
        const true0 = steady.time(edge.from, hull[i]!);
        const delay = steady.time(edge.to, hull[i]! + hull[i + 1]!) - true0;
        const window = Math.floor(true0 / WINDOW_NS);
        const known = least.get(window);
        if (!known || delay < known[1]) least.set(window, [true0, delay]);
      }
    }
    for (const [time, delay] of least.values()) {
      const { indices, coefficients } = terms(edge, time, delay, place, links + link);
      rows.push(system.add(indices, coefficients, delay, SCATTER_NS));
      known.add(indices, coefficients, delay, SCATTER_NS);
    }
    const like = links + edges.length + likes.indexOf(edge.like);
    // A wire differs from others by the same amount for all sizes of messages.
    const first = edges.findIndex(({ from, to, kind }) => isOf(edge, from, to, kind));
    const before = links + edges.length + likes.indexOf(edges[first]!.like);
    for (const [rows, alike] of [
      [system, ALIKE],
      [known, ALIGNMENT_DEFAULTS.alike],
    ] as const) {
      if (first === link) rows.add([links + link, like], [1, -1], 0, alike * LIKE_DELAY);
      else rows.add([links + link, like, links + first, before], [1, -1, -1, 1], 0, ONE_WIRE_NS);
    }
  });
  for (const rows of [system, known]) {
    addBendRows(rows, place, () => wander);
    // For two kinds of links whose delays nothing else separates, and for a host that is heard in one direction only.
    likes.forEach((_, i) => rows.add([links + edges.length + i], [1], LIKE_DELAY, LIKE_DELAY));
    for (const domain of place.solved) rows.add([place.of(domain, 0)], [1], 0, UNHEARD);
    addRatePriors(rows, place);
  }
  const x = new Float64Array(system.unknowns);
  for (let pass = 0; pass < PASSES; pass++) {
    system.solve(x);
    for (const row of rows) {
      const above = system.unexplained(row, x);
      const distance = Math.max(200, Math.abs(above));
      system.setSigma(row, Math.sqrt((distance * SCATTER_NS) / (above > 0 ? BELOW : 1 - BELOW)));
    }
  }
  const values = Array.from({ length: hosts }, (_, host) =>
    Float64Array.from({ length: knots.count }, (_, knot) => {
      const at = place.of(host, knot);
      return at < 0 ? 0 : x[at]!;
    }),
  );
  const matrix = known.factored();
  const errors: number[] = [];
  const halfWidths: number[] = [];
  for (const time of instants) {
    const knot = Math.round(time / STEP_NS);
    const aligned = values.map((own, host) => {
      const shown = steady.time(host, run.clock(host, time));
      return shown + correctionAt(knots, own, shown);
    });
    for (let a = 0; a < hosts; a++) {
      for (let b = a + 1; b < hosts; b++) {
        errors.push(aligned[b]! - aligned[a]!);
        halfWidths.push(OF_99 * Math.sqrt(matrix.variance([place.of(a, knot), place.of(b, knot)], [1, -1])));
      }
    }
  }
  return { errors, halfWidths };
}

const isOf = (edge: EdgeEvidence, from: number, to: number, kind: EvidenceKind): boolean =>
  edge.from === from && edge.to === to && edge.kind === kind;
