/**
 * Kernel channels: the GPU's own stamps (%globaltimer) on the host's clock. One track per communicator and channel, written when a kernel's
 * stop is known, so late. An impossible timestamp (perhaps of other work: NCCL's counters drift apart in known cases) is never drawn. Then
 * the slice shows when the proxy thread noticed, and says so. The phases of a block (v7) have a track below.
 */

import { OpenSet } from '../../base/open_set.js';
import { memoized } from '../../base/memoized.js';
import type { TraceNs } from '../../base/time.js';
import type { GpuNs, Kernel } from '../../model/types.js';
import { GPU_SLACK_NS } from '../../model/work_end.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { Correlations } from '../../model/identity.js';
import { freeLane, Lanes, laneName } from './lanes.js';
import { parentText } from './parent_text.js';
import { rankName, titleOf } from './rank_names.js';
import type { Args, ArgValue, TrackRef } from './sink.js';

/** Before v4 there are no timestamps. */
const FIRST_STAMPED_ABI = 4;

interface Interval {
  readonly start: TraceNs;
  /** null: not finished when the recording ended. */
  readonly end: TraceNs | null;
  readonly suspect: string | null;
  readonly aborted: boolean;
}

interface Channel {
  readonly lanes: Lanes<TrackRef>;
  /** End of the last slice per lane; Infinity while one is open. */
  readonly lastEnd: number[];
  /** Its stamps are those of other work (model/stamp_owners.ts), here by the solved clock. */
  isLagging: boolean;
}

const OF_OTHER = 'stamps of the work before';

export class KernelTracks {
  /** By communicator, then by channel and whether it holds phases, in one number. */
  private readonly channels = new Map<Kernel['comm'], Map<number, Channel>>();
  private readonly open = new OpenSet<Kernel>();
  private readonly correlations = new Correlations();
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
    for (const kernel of this.open.all()) this.draw(kernel);
  }

  private draw(kernel: Kernel): void {
    const { sink } = this.context;
    const channel = this.channelOf(kernel);
    const interval = this.interval(kernel, this.channelOf(kernel, false));
    if (interval.suspect !== null) this.suspects++;
    const lane = freeLane(channel.lastEnd, interval.start);
    channel.lastEnd[lane] = interval.end ?? Infinity;
    const track = channel.lanes.track(lane);
    const slice = sink.begin(track, interval.start, kernelName(kernel), {
      args: kernelArgs(kernel, interval),
      correlation: this.correlations.of(kernel.work),
    });
    if (interval.end !== null) sink.end(track, interval.end, slice);
  }

  /** `block`: the channel's blocks. */
  private interval(kernel: Kernel, block: Channel): Interval {
    const { time } = this.context;
    const gpuTime = this.context.gpuTime(kernel.comm);
    const start = time(kernel.start);
    const finalized = kernel.comm?.finalizeTick ?? null;
    const aborted = kernel.stop === null && finalized !== null && kernel.start <= finalized;
    const stop = aborted ? finalized : kernel.stop;
    const end = stop === null ? null : later(start, time(stop));
    if (kernel.timerStart === null) return { start, end, suspect: this.unstamped(kernel), aborted };
    if (!gpuTime) return { start, end, suspect: 'no GPU clock', aborted };
    const suspect = this.suspicion(kernel, gpuTime, start, end, block);
    if (suspect !== null) return { start, end, suspect, aborted };
    const stamped = gpuTime(kernel.timerStart);
    const stampedEnd =
      kernel.timerStop !== null ? gpuTime(kernel.timerStop) : end === null ? null : later(stamped, end);
    return { start: stamped, end: stampedEnd, suspect: null, aborted };
  }

  private unstamped({ comm }: Kernel): string | null {
    return comm !== null && comm.abi >= FIRST_STAMPED_ABI ? 'no start timestamp' : null;
  }

  /** Comparisons are written so that NaN, from senseless stamps, is suspect too. */
  private suspicion(
    { work, timerStart, timerStop, stop, isOfOther }: Kernel,
    gpuTime: (at: GpuNs) => TraceNs,
    start: TraceNs,
    end: TraceNs | null,
    block: Channel,
  ): string | null {
    if (timerStart === null) return null;
    const stamped = gpuTime(timerStart);
    if (stop !== null && timerStop === null) return 'no stop timestamp';
    if (timerStop !== null && !(timerStop >= timerStart)) return 'stops before it starts';
    if (!(stamped >= 0)) return 'starts before the recording';
    if (!(stamped <= start + GPU_SLACK_NS)) return 'starts after it was noticed';
    if (timerStop !== null && end !== null && !(gpuTime(timerStop) <= end + GPU_SLACK_NS))
      return 'stops after it was noticed';
    if (work && stamped < this.context.time(work.earliest) - GPU_SLACK_NS) {
      block.isLagging = true;
      return 'starts before its call';
    }
    return isOfOther || block.isLagging ? OF_OTHER : null;
  }

  private channelOf(kernel: Kernel, isPhase = kernel.phase !== null): Channel {
    let channels = this.channels.get(kernel.comm);
    if (!channels) this.channels.set(kernel.comm, (channels = new Map<number, Channel>()));
    const key = kernel.channel * 2 + Number(isPhase);
    let channel = channels.get(key);
    if (!channel) {
      const owner = rankName(this.context.names, kernel.comm);
      const name = `kernel ch${String(kernel.channel).padStart(2, '0')}${isPhase ? ' phases' : ''}`;
      channel = {
        lastEnd: [],
        isLagging: false,
        lanes: new Lanes((lane) =>
          this.context.sink.describe({
            kind: 'slices',
            detail: 'op',
            name: laneName(titleOf(owner, name), lane),
            parent: this.groups.group(kernel.comm),
            rank: COMM_ORDER.kernels + (kernel.channel * 2 + Number(isPhase)) * 16 + Math.min(lane, 15),
            description: isPhase ? PHASES : BLOCKS,
          }),
        ),
      };
      channels.set(key, channel);
    }
    return channel;
  }
}

const BLOCKS =
  "One thread block of NCCL's kernel, by the GPU's own timer moved to the host's clock. From the block's entry (before it " +
  'waits for its peers) to its end.';

const PHASES =
  "What one thread block of NCCL's kernel was doing (initial sync, compute, final sync), by the GPU's own timer moved to " +
  "the host's clock.";

function kernelName({ phase, work }: Kernel): string {
  return phase ?? blockName(work?.func ?? 'unknown');
}

const blockName = memoized((func: string) => `${func} kernel`);

function later(a: TraceNs, b: TraceNs): TraceNs {
  return a > b ? a : b;
}

function kernelArgs({ phase, work, parent }: Kernel, { suspect, aborted }: Interval): Args {
  const args: [string, ArgValue][] = [];
  if (phase !== null) args.push(['op', work?.func ?? 'unknown']);
  const text = parentText(parent);
  if (text !== null) args.push(['parent', text]);
  if (suspect !== null) args.push(['suspect', suspect]);
  if (aborted) args.push(['end', 'communicator finalized']);
  return args;
}
