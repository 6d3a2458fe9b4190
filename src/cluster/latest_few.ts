/**
 * For each row of a table: the few ranks that came last. They show how long all others waited for several ranks together, such as those of
 * a node. Only the newest rows are kept, because they show what a longer run would.
 */

import { withRows } from '../base/columns.js';
import type { LateTogether, Spell } from './collective_types.js';

/** So many ranks at most are late together: as many as a node has. */
const MOST = 8;
const MOST_ROWS = 20_000;
const FIRST_ROWS = 64;

/**
 * A rank takes so many numbers: its file, its rank, when it came, when it began, from when on it certainly waited for others, and since when
 * it had been idle.
 */
const RANK = 6;
const [CAME, BEGAN, WAITED, IDLE] = [2, 3, 4, 5];
/** `row`: the row that lies here, plus 1. `others`: when the last rank of all that are not kept waited. */
const ROWS = { row: new Uint32Array(0), others: new Float64Array(0) };

export class LatestFew {
  /** So many ranks of a row can be late together: up to half of all. Less than two: no row is kept. */
  private readonly most: number;
  /** Numbers of a row: one rank more than can be late. */
  private readonly width: number;
  /** A row's ranks, the latest first. NaN: nobody. */
  private ranks: Float64Array;
  private rows = withRows(ROWS, FIRST_ROWS);

  /** `size`: how many ranks a row has at most; 0: not known. */
  constructor(size: number) {
    this.most = size === 0 ? MOST : Math.min(MOST, size >> 1);
    this.width = RANK * (this.most + 1);
    this.ranks = new Float64Array(this.most < 2 ? 0 : FIRST_ROWS * this.width);
  }

  add(
    row: number,
    file: number,
    rank: number,
    came: number,
    began: number,
    waited: number,
    idle: Spell,
  ): void {
    const begin = this.placeFor(row);
    if (begin < 0) return;
    const { ranks, rows } = this;
    const end = begin + this.width;
    let place = end;
    while (place > begin && !(ranks[place - RANK + CAME]! >= came)) place -= RANK;
    const last = place === end ? waited : ranks[end - RANK + WAITED]!;
    const at = row % MOST_ROWS;
    if (last > rows.others[at]!) rows.others[at] = last;
    if (place === end) return;
    ranks.copyWithin(place + RANK, place, end - RANK);
    ranks[place] = file;
    ranks[place + 1] = rank;
    ranks[place + CAME] = came;
    ranks[place + BEGAN] = began;
    ranks[place + WAITED] = waited;
    ranks[place + IDLE] = idle.to >= came ? idle.from : Infinity;
  }

  /** Where the row's ranks lie. Less than 0: it is not kept. */
  private placeFor(row: number): number {
    if (this.most < 2) return -1;
    const { width } = this;
    const at = row % MOST_ROWS;
    if (at >= this.rows.row.length) {
      const size = Math.min(MOST_ROWS, 2 * at);
      const { ranks } = this;
      this.rows = withRows(this.rows, size);
      this.ranks = new Float64Array(size * width);
      this.ranks.set(ranks);
    }
    const { rows } = this;
    if (rows.row[at] === row + 1) return at * width;
    if (rows.row[at]! > row) return -1;
    rows.row[at] = row + 1;
    rows.others[at] = -Infinity;
    this.ranks.fill(NaN, at * width, (at + 1) * width);
    return at * width;
  }

  /** For two ranks and more, up to half of `size`. */
  together(row: number, size: number): LateTogether[] {
    const at = row % MOST_ROWS;
    const { ranks, rows, width } = this;
    if (rows.row[at] !== row + 1) return [];
    const begin = at * width;
    const found: LateTogether[] = [];
    for (let count = 2; count <= Math.min(this.most, size / 2); count++) {
      const end = begin + count * RANK;
      const to = ranks[end - RANK + CAME]!;
      let [others, idle, busy] = [rows.others[at]!, -Infinity, 0];
      for (let i = end; i < begin + width && !Number.isNaN(ranks[i + CAME]); i += RANK)
        others = Math.max(others, ranks[i + WAITED]!);
      for (let i = begin; i < end; i += RANK) {
        idle = Math.max(idle, ranks[i + IDLE]!);
        busy = Math.max(busy, ranks[i + BEGAN]! - ranks[i + CAME]!);
      }
      // If a GPU had other work for longer than the others waited, the call is not the reason.
      if (Math.max(others, idle) < to && busy <= to - others)
        found.push({ ranks: this.ranksAt(begin, count), others, idle, to });
    }
    return found;
  }

  private ranksAt(begin: number, count: number): LateTogether['ranks'] {
    const { ranks } = this;
    return Array.from({ length: count }, (_, i) => ({
      file: ranks[begin + i * RANK]!,
      rank: ranks[begin + i * RANK + 1]!,
    })).sort((a, b) => a.rank - b.rank);
  }
}
