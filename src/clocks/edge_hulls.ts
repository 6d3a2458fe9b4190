/**
 * All pairs from one domain to another, of any kind or size, per piece of the corrections. They are reduced to the few that a clock within
 * its declared curvature can touch. Projection and hard bounds rest on them.
 */

import { addTo, entryOf } from '../base/grouped.js';
import { pieceAt, type Knots } from './corrections.js';
import type { EdgeEvidence } from './evidence.js';
import { HullBuilder, type PointList } from './lower_hull.js';

export interface EdgeHull {
  readonly from: number;
  readonly to: number;
  /** Time, delay, ... */
  readonly hull: PointList;
}

/** The pieces of one edge by rising number, and their hulls. */
interface EdgePieces {
  readonly pieces: readonly number[];
  readonly hulls: readonly PointList[];
}

/** Caches its result per edge, because several selections need the same edges. */
export class PieceHulls {
  private readonly known = new Map<EdgeEvidence, EdgePieces>();
  private readonly builder: HullBuilder;
  private asked: { readonly edges: readonly EdgeEvidence[]; readonly hulls: readonly EdgeHull[] } | undefined;

  /** `curvature`: most that a clock's rate changes, 1/ns. */
  constructor(
    private readonly knots: Knots,
    curvature: number,
  ) {
    this.builder = new HullBuilder(curvature);
  }

  /** One arc after the other, each by rising piece. */
  of(edges: readonly EdgeEvidence[]): readonly EdgeHull[] {
    const { asked } = this;
    if (asked?.edges.length === edges.length && asked.edges.every((edge, i) => edge === edges[i]))
      return asked.hulls;
    const hulls: EdgeHull[] = [];
    for (const group of groupByArc(edges)) {
      const { from, to } = group[0]!;
      for (const hull of this.joined(group)) if (hull !== undefined) hulls.push({ from, to, hull });
    }
    this.asked = { edges, hulls };
    return hulls;
  }

  /** By piece. */
  private joined(group: readonly EdgeEvidence[]): readonly (PointList | undefined)[] {
    const joined: (PointList | undefined)[] = [];
    for (let piece = 0; piece + 1 < this.knots.count; piece++) joined.push(undefined);
    for (const edge of group) {
      const { pieces, hulls } = this.piecesOf(edge);
      for (let i = 0; i < pieces.length; i++) {
        const piece = pieces[i]!;
        const before = joined[piece];
        const hull = hulls[i]!;
        joined[piece] = before === undefined ? hull : this.builder.clear().appendBoth(before, hull).hull();
      }
    }
    return joined;
  }

  private piecesOf(edge: EdgeEvidence): EdgePieces {
    const known = this.known.get(edge);
    if (known) return known;
    const { windows, windowNs } = edge;
    const pieces: number[] = [];
    const hulls: PointList[] = [];
    const pieceOf = (at: number): number => pieceAt(this.knots, (windows[at]!.index + 0.5) * windowNs);
    for (let at = 0; at < windows.length;) {
      const piece = pieceOf(at);
      this.builder.clear();
      do this.builder.append(windows[at++]!.hull);
      while (at < windows.length && pieceOf(at) === piece);
      pieces.push(piece);
      hulls.push(this.builder.hull());
    }
    const found = { pieces, hulls };
    this.known.set(edge, found);
    return found;
  }
}

function groupByArc(edges: readonly EdgeEvidence[]): EdgeEvidence[][] {
  const arcs = new Map<number, Map<number, EdgeEvidence[]>>();
  for (const edge of edges)
    addTo(
      entryOf(arcs, edge.from, () => new Map<number, EdgeEvidence[]>()),
      edge.to,
      edge,
    );
  return [...arcs.values()].flatMap((targets) => [...targets.values()]);
}
