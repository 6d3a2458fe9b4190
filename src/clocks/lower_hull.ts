/**
 * Lower convex hulls of (time, delay): the few points that a straight line can touch from below. Subtracting a line from all delays does
 * not change these points, so a hull may be kept before the clocks are known. Points lie in flat arrays, x and y in turn, because there are
 * many small hulls.
 */

/** x0, y0, x1, y1, ... by rising x. */
export type PointList = readonly number[] | Float64Array;

/**
 * The lower hull of points in any order. Of points with equal x the lowest counts. With a `curvature` c (1/x) it is the hull of y + c x²:
 * all points that a line with this bend can touch. It contains all points of the straight hull.
 */
export function lowerHull(points: PointList, curvature = 0): number[] {
  const builder = curvature === 0 ? STRAIGHT.clear() : new HullBuilder(curvature);
  return Array.from(builder.append(isSorted(points) ? points : inOrder(points)).hull());
}

/** By rising x; of points with equal x the lowest alone. */
function inOrder(points: PointList): Float64Array {
  const order = Array.from({ length: points.length / 2 }, (_, i) => i * 2);
  order.sort((a, b) => points[a]! - points[b]! || points[a + 1]! - points[b + 1]!);
  const sorted = new Float64Array(points.length);
  let length = 0;
  for (const at of order) {
    if (length > 0 && sorted[length - 2] === points[at]!) continue; // the lower one came first
    sorted[length++] = points[at]!;
    sorted[length++] = points[at + 1]!;
  }
  return sorted.subarray(0, length);
}

/**
 * Whether the point (x, y) leaves b on the hull: it lies above the line from a through b, or no farther below than the
 * curvature allows.
 */
function isAbove(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  x: number,
  y: number,
  curvature: number,
): boolean {
  const turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  return turn + curvature * (bx - ax) * (x - ax) * (x - bx) > 0;
}

/**
 * Makes hulls, one after the other, in the same memory, because there are many and most of their points are needed only for a short time.
 */
export class HullBuilder {
  private points: Float64Array;
  private length = 0;

  constructor(private readonly curvature = 0) {
    this.points = new Float64Array(32);
  }

  /** Begins a new one. */
  clear(): this {
    this.length = 0;
    return this;
  }

  /** Numbers of its points: two each. */
  get size(): number {
    return this.length;
  }

  /** Adds a point after the points of the hull; false: it would not be after them. */
  extend(x: number, y: number): boolean {
    if (this.length > 0 && x <= this.points[this.length - 2]!) return false;
    if (this.length + 2 > this.points.length) this.grow();
    this.add(x, y);
    return true;
  }

  /** Adds points by rising x, all of them after the points of the hull. */
  append(points: PointList): this {
    while (this.length + points.length > this.points.length) this.grow();
    for (let i = 0; i < points.length; i += 2) this.add(points[i]!, points[i + 1]!);
    return this;
  }

  /** Adds the points of two hulls by rising x, all of them after the points of this hull. */
  appendBoth(a: PointList, b: PointList): this {
    while (this.length + a.length + b.length > this.points.length) this.grow();
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      // If points have equal x, the lowest counts.
      const isA =
        j >= b.length || (i < a.length && (a[i]! < b[j]! || (a[i] === b[j] && a[i + 1]! <= b[j + 1]!)));
      const x = isA ? a[i]! : b[j]!;
      const y = isA ? a[i + 1]! : b[j + 1]!;
      if (isA) i += 2;
      else j += 2;
      if (this.length === 0 || this.points[this.length - 2] !== x) this.add(x, y);
    }
    return this;
  }

  /** x, y, ... */
  hull(): Float64Array {
    return this.points.slice(0, this.length);
  }

  /** The slope of the edge below the middle of its span; 0 for a single point. The hull must not be empty. */
  middleSlope(): number {
    const { points, length } = this;
    const middle = (points[0]! + points[length - 2]!) / 2;
    for (let i = 2; i < length; i += 2)
      if (points[i]! >= middle) return (points[i + 1]! - points[i - 1]!) / (points[i]! - points[i - 2]!);
    return 0;
  }

  private add(x: number, y: number): void {
    const { points, curvature } = this;
    let n = this.length;
    for (; n >= 4; n -= 2) {
      const ax = points[n - 4]!;
      const ay = points[n - 3]!;
      const bx = points[n - 2]!;
      if (isAbove(ax, ay, bx, points[n - 1]!, x, y, curvature)) break;
    }
    points[n] = x;
    points[n + 1] = y;
    this.length = n + 2;
  }

  private grow(): void {
    const wider = new Float64Array(2 * this.points.length);
    wider.set(this.points);
    this.points = wider;
  }
}

const STRAIGHT = new HullBuilder();

/** True for hulls, and for hulls one after the other. */
function isSorted(points: PointList): boolean {
  for (let i = 2; i < points.length; i += 2) if (points[i]! <= points[i - 2]!) return false;
  return true;
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

/**
 * Points that come one by one, mostly by rising x: those extend the hull at its end. Others wait until they are as many as the hull and
 * no fewer than 256, because each look at them goes through the whole hull.
 */
export class HullCollector {
  private readonly builder = new HullBuilder();
  private late: number[] = [];

  add(x: number, y: number): void {
    if (this.builder.extend(x, y)) return;
    this.late.push(x, y);
    if (this.late.length >= Math.max(512, this.builder.size)) this.reduce();
  }

  addAll(points: PointList): void {
    for (let i = 0; i < points.length; i += 2) this.add(points[i]!, points[i + 1]!);
  }

  hull(): Float64Array {
    this.reduce();
    return this.builder.hull();
  }

  private reduce(): void {
    if (this.late.length === 0) return;
    const late = lowerHull(this.late);
    const hull = this.builder.hull();
    this.builder.clear().appendBoth(hull, late);
    this.late = [];
  }
}
