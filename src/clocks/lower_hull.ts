/**
 * Lower convex hulls of (time, delay): of all points the few that any straight line can touch from below. Which points
 * these are does not change when a line is subtracted from all delays, so a hull may be kept before the clocks are known.
 *
 * Points lie in flat arrays, x and y in turn: there are many hulls, and each is small.
 */

/** x0, y0, x1, y1, ... by rising x. */
export type PointList = readonly number[] | Float64Array;

/** The lower hull of points in any order; of equal x the lowest counts. */
export function lowerHull(points: PointList): number[] {
  const hull: number[] = [];
  const add = (x: number, y: number): void => {
    if (hull.length >= 2 && hull[hull.length - 2] === x) return; // the lower one came first
    while (hull.length >= 4 && !turnsLeft(hull, x, y)) hull.length -= 2;
    hull.push(x, y);
  };
  if (isSorted(points)) {
    for (let i = 0; i < points.length; i += 2) add(points[i]!, points[i + 1]!);
    return hull;
  }
  const order = Array.from({ length: points.length / 2 }, (_, i) => i * 2);
  order.sort((a, b) => points[a]! - points[b]! || points[a + 1]! - points[b + 1]!);
  for (const at of order) add(points[at]!, points[at + 1]!);
  return hull;
}

/** As hulls are, and hulls one after the other. */
function isSorted(points: PointList): boolean {
  for (let i = 2; i < points.length; i += 2) if (points[i]! <= points[i - 2]!) return false;
  return true;
}

function turnsLeft(hull: readonly number[], x: number, y: number): boolean {
  const n = hull.length;
  const ax = hull[n - 4]!;
  const ay = hull[n - 3]!;
  const bx = hull[n - 2]!;
  const by = hull[n - 1]!;
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0;
}

/** Least y - slope * x over the points, as the index of its x; -1 without points. */
export function lowestIndex(points: PointList, slope: number): number {
  let lowest = -1;
  let least = Infinity;
  for (let i = 0; i < points.length; i += 2) {
    const y = points[i + 1]! - slope * points[i]!;
    if (y < least) {
      least = y;
      lowest = i;
    }
  }
  return lowest;
}

/** Points that come one by one, reduced to their hull whenever they have doubled: at most twice the hull is kept. */
export class HullCollector {
  private points: number[] = [];
  private limit = 32;

  add(x: number, y: number): void {
    this.points.push(x, y);
    if (this.points.length >= this.limit * 2) this.reduce();
  }

  addAll(points: PointList): void {
    for (let i = 0; i < points.length; i += 2) this.add(points[i]!, points[i + 1]!);
  }

  hull(): readonly number[] {
    this.reduce();
    return this.points;
  }

  private reduce(): void {
    this.points = lowerHull(this.points);
    this.limit = Math.max(32, this.points.length);
  }
}
