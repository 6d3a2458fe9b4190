/**
 * Kernel channels: what the GPU itself stamped (%globaltimer), moved to the host's clock. One track per communicator and
 * channel, written when a kernel's stop is known, so late. A timestamp that cannot be true (it may belong to other work:
 * NCCL's counters drift apart in known cases) is never drawn as if it were: the slice then shows when the proxy thread
 * noticed, and says so.
 */

import type { TraceNs } from '../base/time.js';
import type { GpuNs, Kernel } from '../model/types.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { workCorrelation } from './identity.js';
import { Lanes, laneName } from './lanes.js';
import type { Args, TrackRef } from './sink.js';

/** How far a stamp may lie outside what its callbacks allow; farther, it belongs to other work. */
const SLACK_NS = 1e6;

interface Interval {
  readonly start: TraceNs;
  /** null: not finished when the recording ended. */
  readonly end: TraceNs | null;
  readonly suspect: string | null;
}

interface Channel {
  readonly lanes: Lanes<TrackRef>;
  /** End of the last slice per lane; Infinity while one is open. */
  readonly lastEnd: number[];
}

export class KernelTracks {
  private readonly channels = new Map<string, Channel>();
  private readonly open = new Set<Kernel>();
  suspects = 0;

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
  ) {}

  start(kernel: Kernel): void {
    this.open.add(kernel);
  }

  stop(kernel: Kernel): void {
    this.open.delete(kernel);
    this.draw(kernel);
  }

  finish(): void {
    for (const kernel of this.open) this.draw(kernel);
  }

  private draw(kernel: Kernel): void {
    const { sink } = this.context;
    const interval = this.interval(kernel);
    if (interval.suspect !== null) this.suspects++;
    const channel = this.channelOf(kernel);
    const lane = freeLane(channel.lastEnd, interval.start);
    channel.lastEnd[lane] = interval.end ?? Infinity;
    const track = channel.lanes.track(lane);
    const slice = sink.begin(track, interval.start, `${kernel.work?.func ?? 'unknown'} kernel`, {
      args: kernelArgs(interval),
      correlation: workCorrelation(kernel.work),
    });
    if (interval.end !== null) sink.end(track, interval.end, slice);
  }

  private interval(kernel: Kernel): Interval {
    const { time, gpuTime } = this.context;
    const start = time(kernel.start);
    const end = kernel.stop === null ? null : later(start, time(kernel.stop));
    if (kernel.timerStart === null) return { start, end, suspect: null };
    if (!gpuTime) return { start, end, suspect: 'no GPU clock' };
    const suspect = this.suspicion(kernel, gpuTime, start, end);
    if (suspect !== null) return { start, end, suspect };
    const stamped = gpuTime(kernel.timerStart);
    if (end === null) return { start: stamped, end, suspect };
    if (kernel.timerStop === null) return { start: stamped, end, suspect: 'no stop timestamp' };
    return { start: stamped, end: gpuTime(kernel.timerStop), suspect };
  }

  /** Comparisons are written so that NaN, of stamps beyond any sense, is suspect too. */
  private suspicion(
    { work, timerStart, timerStop }: Kernel,
    gpuTime: (at: GpuNs) => TraceNs,
    start: TraceNs,
    end: TraceNs | null,
  ): string | null {
    if (timerStart === null) return null;
    const stamped = gpuTime(timerStart);
    if (timerStop !== null && !(timerStop >= timerStart)) return 'stops before it starts';
    if (!(stamped >= 0)) return 'starts before the recording';
    if (!(stamped <= start + SLACK_NS)) return 'starts after it was noticed';
    if (timerStop !== null && end !== null && !(gpuTime(timerStop) <= end + SLACK_NS))
      return 'stops after it was noticed';
    const called = work?.api?.start ?? work?.start;
    if (called !== undefined && stamped < this.context.time(called) - SLACK_NS)
      return 'starts before its call';
    return null;
  }

  private channelOf(kernel: Kernel): Channel {
    const key = `${kernel.comm?.number ?? 'unknown'} ${kernel.channel}`;
    let channel = this.channels.get(key);
    if (!channel) {
      const name = `kernel ch${String(kernel.channel).padStart(2, '0')}`;
      channel = {
        lastEnd: [],
        lanes: new Lanes((lane) =>
          this.context.sink.describe({
            kind: 'slices',
            order: 'late',
            name: laneName(name, lane),
            parent: this.groups.group(kernel.comm),
            rank: COMM_ORDER.kernels + kernel.channel * 16 + Math.min(lane, 15),
            description: DESCRIPTION,
          }),
        ),
      };
      this.channels.set(key, channel);
    }
    return channel;
  }
}

const DESCRIPTION =
  "One thread block of NCCL's kernel, by the GPU's own timer moved to the host's clock. From the block's entry (before it " +
  'waits for its peers) to its end.';

function later(a: TraceNs, b: TraceNs): TraceNs {
  return a > b ? a : b;
}

function freeLane(lastEnd: readonly number[], start: TraceNs): number {
  const lane = lastEnd.findIndex((end) => end <= start);
  return lane < 0 ? lastEnd.length : lane;
}

function kernelArgs(interval: Interval): Args | undefined {
  return interval.suspect === null ? undefined : [['suspect', interval.suspect]];
}
