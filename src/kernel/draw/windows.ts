/** The part of the trace that is drawn: for each depth of detail a window of time (src/trace/tracks/selection.ts). */

/** How deep a track's detail is (src/model/detail.ts). */
export const enum Detail {
  Coll,
  Op,
  Step,
  /** Drawn in every part. */
  Always,
  /** As the track above. */
  Inherited,
}
export const DETAILS: i32 = 3;

/** [from, to] in ns of the trace. */
export class Window {
  constructor(
    readonly from: f64,
    readonly to: f64,
  ) {}

  @inline
  has(at: f64): bool {
    return at >= this.from && at <= this.to;
  }
}

export class Windows {
  private readonly always: Window = new Window(-Infinity, Infinity);
  /** By detail; null: nothing of that detail is drawn. */
  private readonly windows: StaticArray<Window | null> = new StaticArray<Window | null>(DETAILS);

  set(detail: Detail, from: f64, to: f64): void {
    this.windows[detail] = new Window(from, to);
  }

  get steps(): Window | null {
    return this.windows[Detail.Step];
  }

  of(detail: Detail): Window | null {
    return detail == Detail.Always ? this.always : this.windows[detail];
  }
}
