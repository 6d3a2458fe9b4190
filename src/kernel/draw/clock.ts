/** From the file's ticks, and from its GPUs' timers, to the time of the trace: src/clocks/clock_map.ts and gpu_clock.ts in short. */

@unmanaged
class Segment {
  from: f64;
  to: f64;
  offset: f64;
  drift: f64;
}

class GpuLine {
  constructor(
    readonly offset: f64,
    readonly drift: f64,
  ) {}
}

/** In place of a communicator: the process has one GPU. */
const ONLY_GPU: i32 = -1;

export class Clock {
  private offset: f64 = 0;
  private nsPerTick: f64 = 1;
  private readonly segments: Segment[] = [];
  private segment: Segment = changetype<Segment>(0);
  private readonly gpus: Map<i32, GpuLine> = new Map<i32, GpuLine>();

  /** ns of the host's clock: offset + ticks * nsPerTick. */
  setScale(offset: f64, nsPerTick: f64): void {
    this.offset = offset;
    this.nsPerTick = nsPerTick;
  }

  /** In order of time. */
  addSegment(from: f64, to: f64, offset: f64, drift: f64): void {
    const segment = changetype<Segment>(heap.alloc(offsetof<Segment>()));
    segment.from = from;
    segment.to = to;
    segment.offset = offset;
    segment.drift = drift;
    if (this.segments.push(segment) == 1) this.segment = segment;
  }

  addGpu(comm: i32, offset: f64, drift: f64): void {
    this.gpus.set(comm, new GpuLine(offset, drift));
  }

  /** Whole ns of the trace. */
  @inline
  time(tick: f64): f64 {
    return this.ofLocal(this.offset + tick * this.nsPerTick);
  }

  hasGpu(comm: i32): bool {
    return this.gpus.has(ONLY_GPU) || this.gpus.has(comm);
  }

  /** The trace's time of a GPU's stamp. The communicator's GPU must have a line. */
  gpuTime(comm: i32, at: f64): f64 {
    const line = this.gpus.get(this.gpus.has(ONLY_GPU) ? ONLY_GPU : comm);
    return this.ofLocal((at + line.offset) / (1 - line.drift));
  }

  /** Most times follow each other, so a segment is only searched for a time outside of the last one. */
  @inline
  private ofLocal(local: f64): f64 {
    let segment = this.segment;
    if (!(segment.from <= local && local < segment.to)) segment = this.find(local);
    return Math.round(local + segment.offset + segment.drift * (local - segment.from));
  }

  /** The first segment reaches back, and the last one forward, without limit. */
  private find(local: f64): Segment {
    let low = 0;
    let high = this.segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.segments[middle].from <= local) low = middle;
      else high = middle - 1;
    }
    return (this.segment = this.segments[low]);
  }
}
