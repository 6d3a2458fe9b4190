/** Finds the lowest free lane by halving, because a file may keep any number of things open at once. */
export class LaneNumbers {
  /**
   * A tree of minima. Its leaves are the times when the lanes were released (Infinity: the lane is busy). Each node above is the minimum of
   * two neighbours.
   */
  private freeAt = new Float64Array(2).fill(Infinity);
  private made = 0;

  get count(): number {
    return this.made;
  }

  /** `at`: begin of the slice, if slices do not come in order of time. The slice takes no lane that was released later. */
  acquire(at = Number.MAX_VALUE): number {
    const lane = this.lowest(at) ?? this.made++;
    this.release(lane, Infinity);
    return lane;
  }

  release(lane: number, at = 0): void {
    while (lane >= this.size) this.grow();
    const { freeAt } = this;
    let node = this.size + lane;
    freeAt[node] = at;
    while ((node >>= 1) > 0) freeAt[node] = Math.min(freeAt[2 * node]!, freeAt[2 * node + 1]!);
  }

  private lowest(at: number): number | null {
    const { freeAt, size } = this;
    let node = 1;
    if (!(freeAt[node]! <= at)) return null;
    while (node < size) node = freeAt[2 * node]! <= at ? 2 * node : 2 * node + 1;
    return node - size;
  }

  private get size(): number {
    return this.freeAt.length / 2;
  }

  private grow(): void {
    const { freeAt: before, size } = this;
    this.freeAt = new Float64Array(4 * size).fill(Infinity);
    for (let lane = 0; lane < size; lane++) this.release(lane, before[size + lane]);
  }
}
