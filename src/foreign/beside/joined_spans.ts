/** Spans of time in rows, as a page shows them: what overlaps lies in rows below each other, and what is too short to be seen is joined and counted. */

export interface Span {
  /** What it is, for whoever made it. */
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

export interface Stack {
  /** By begin. */
  readonly spans: readonly Span[];
  /** By span; -1: there were too many at once. */
  readonly row: Int32Array;
  readonly rows: number;
  readonly tooDeep: number;
  /** How long the first row is full. */
  readonly busy: number;
}

/** Each span in the first row that is free. So a call lies below its caller. */
export function stacked(given: readonly Span[], mostRows: number): Stack {
  const spans = [...given].sort((a, b) => a.from - b.from || b.to - a.to);
  const ends: number[] = [];
  const row = new Int32Array(spans.length);
  let [tooDeep, busy] = [0, 0];
  spans.forEach(({ from, to }, i) => {
    const free = ends.findIndex((end) => end <= from);
    const own = free < 0 ? ends.length : free;
    row[i] = own < mostRows ? own : -1;
    if (own >= mostRows) tooDeep++;
    else ends[own] = to;
    if (own === 0) busy += to - from;
  });
  return { spans, row, rows: ends.length, tooDeep, busy };
}

export interface Joined extends Span {
  readonly row: number;
  /** How many spans; `id` is that of the first. */
  readonly count: number;
}

/** From 0 to `until`. Spans shorter than `shortest` are joined with those that are nearer than it in their row. */
export function joined({ spans, row }: Stack, until: number, shortest: number): Joined[] {
  interface Growing {
    id: number;
    from: number;
    to: number;
    row: number;
    count: number;
  }
  const made: Growing[] = [];
  const growing: (Growing | undefined)[] = [];
  spans.forEach((span, i) => {
    if (row[i]! < 0) return;
    const own = {
      id: span.id,
      from: Math.max(0, span.from),
      to: Math.min(until, span.to),
      row: row[i]!,
      count: 1,
    };
    const isShort = own.to - own.from < shortest;
    const before = growing[own.row];
    if (isShort && before !== undefined && own.from - before.to < shortest) {
      before.to = Math.max(before.to, own.to);
      before.count++;
      return;
    }
    made.push(own);
    growing[own.row] = isShort ? own : undefined;
  });
  return made;
}
