/** The evidence of all edges, pair by pair: by from, to and likeness. */

import { entryOf } from '../../base/grouped.js';
import { EdgeCollector, type EdgeEvidence } from '../evidence.js';

export type Edge = Pick<EdgeEvidence, 'from' | 'to' | 'kind' | 'like' | 'insists'>;

/**
 * ns. On axes that are right to seconds, no message arrives longer than this before it is sent, unless a stamp is impossible. As evidence
 * such a stamp would stretch the corrections over all the hours in between.
 */
const MOST_BACKWARDS = 3600e9;

/** Pairs of stamps that are no evidence, because one of the two is impossible. */
export interface ImpossiblePairs {
  readonly from: number;
  readonly to: number;
  readonly pairs: number;
}

/** Two domains as one number, because there are as many pairs of stamps as transfers. */
export const pairOf = (from: number, to: number): number => from * 2 ** 21 + to;

export class EdgeCollectors {
  private readonly collectors: EdgeCollector[] = [];
  /** By pair of domains and likeness. */
  private readonly byPair = new Map<number, Map<string, EdgeCollector>>();
  private readonly farBackwards = new Map<string, { from: number; to: number; pairs: number }>();

  /** `maxWindows`: of each edge; bounds memory. */
  constructor(private readonly maxWindows: number) {}

  /** `time`: of the cause, on the coarse axis; `delay`: by the effect's stamp, ns; `bytes`: of its message. */
  add(edge: Edge, time: number, delay: number, bytes?: number): void {
    if (delay < -MOST_BACKWARDS) {
      const link = `${edge.from} ${edge.to}`;
      entryOf(this.farBackwards, link, () => ({ from: edge.from, to: edge.to, pairs: 0 })).pairs++;
      return;
    }
    const byLike = entryOf(this.byPair, pairOf(edge.from, edge.to), () => new Map<string, EdgeCollector>());
    const collector = entryOf(byLike, edge.like, () => {
      const made = new EdgeCollector(edge, this.maxWindows);
      this.collectors.push(made);
      return made;
    });
    collector.add(time, delay, bytes);
  }

  /** By the direction in which they would have been sent. */
  impossible(): ImpossiblePairs[] {
    return [...this.farBackwards.values()];
  }

  finish(): EdgeEvidence[] {
    return this.collectors.map((collector) => collector.finish());
  }
}
