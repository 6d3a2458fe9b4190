/** Finds the lowest free lane by halving, because a file may keep any number of things open at once. */
export class LaneNumbers {
  /** Number of lanes. */
  made: i32 = 0;
  /**
   * A tree of minima. Its leaves are the times when the lanes were released (Infinity: the lane is busy). Each node above is the minimum of
   * two neighbours.
   */
  private freeAt: StaticArray<f64> = new StaticArray<f64>(2).fill(Infinity);

  /** `at`: begin of the slice, if slices do not come in order of time. The slice takes no lane that was released later. */
  acquire(at: f64 = f64.MAX_VALUE): i32 {
    let lane = this.lowest(at);
    if (lane < 0) lane = this.made++;
    this.release(lane, Infinity);
    return lane;
  }

  release(lane: i32, at: f64 = 0): void {
    while (lane >= this.size) this.grow();
    const freeAt = this.freeAt;
    let node = this.size + lane;
    unchecked((freeAt[node] = at));
    while ((node >>= 1) > 0) unchecked((freeAt[node] = min(freeAt[2 * node], freeAt[2 * node + 1])));
  }

  /** -1: none is free. */
  private lowest(at: f64): i32 {
    const freeAt = this.freeAt;
    const size = this.size;
    let node = 1;
    if (!(unchecked(freeAt[node]) <= at)) return -1;
    while (node < size) node = unchecked(freeAt[2 * node]) <= at ? 2 * node : 2 * node + 1;
    return node - size;
  }

  private get size(): i32 {
    return this.freeAt.length / 2;
  }

  private grow(): void {
    const before = this.freeAt;
    const size = this.size;
    this.freeAt = new StaticArray<f64>(4 * size).fill(Infinity);
    for (let lane = 0; lane < size; lane++) this.release(lane, before[size + lane]);
  }
}
