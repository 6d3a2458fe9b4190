/**
 * Kernel channels: the GPU's own stamps (%globaltimer) on the host's clock, with one track per communicator and channel. A slice is written
 * late, when the kernel's stop is known. In known cases NCCL reports stamps of other work. They are drawn as that work's kernel if its
 * network operations show that it ran then (block_owners.ts). An impossible timestamp is never drawn. The slice then shows when the proxy
 * thread noticed the kernel, and says so. The phases of a block (v7) have a track below.
 */

import { OpenSet } from '../../base/open_set.js';
import { memoized } from '../../base/memoized.js';
import type { TraceNs } from '../../base/time.js';
import type { GpuNs, Kernel, Op, Work } from '../../model/types.js';
import { GPU_SLACK_NS } from '../../model/work_end.js';
import { BlockOwners, isOver, type Block, type BlockListener } from './block_owners.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { Correlations } from '../../model/identity.js';
import { recordsKernels } from '../../model/recording.js';
import { Lanes, laneName } from './lanes.js';
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

type Stamped = Interval & { readonly end: TraceNs };

interface Channel {
  readonly lanes: Lanes<TrackRef>;
  /** Its stamps are those of other work (model/stamp_owners.ts), here by the solved clock. */
  isLagging: boolean;
}

const OF_OTHER = 'stamps of other work';
const BEFORE_CALL = 'starts before its call';
const OF_OTHERS: readonly string[] = [OF_OTHER, BEFORE_CALL];

export class KernelTracks implements BlockListener {
  /** By communicator, then by channel and whether it holds phases, in one number. */
  private readonly channels = new Map<Kernel['comm'], Map<number, Channel>>();
  private readonly open = new OpenSet<Kernel>();
  private readonly correlations = new Correlations();
  private readonly isRecorded: boolean;
  private readonly owners: BlockOwners;
  suspects = 0;

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
  ) {
    this.isRecorded = recordsKernels(context.file);
    this.owners = new BlockOwners(context.time, this);
  }

  start(kernel: Kernel): void {
    this.open.add(kernel);
  }

  stop(kernel: Kernel): void {
    this.open.delete(kernel);
    const { work, channel, phase, timerStop } = kernel;
    const block = work && phase === null && timerStop !== null ? this.owners.blockOf(work, channel) : null;
    if (!block || block.kernel || block.isJudged) this.draw(kernel, this.interval(kernel));
    else {
      block.kernel = kernel;
      if (isOver(block)) this.judge(block, kernel);
    }
  }

  opStart(op: Op): void {
    if (this.isRecorded) this.owners.opStart(op);
  }

  opStop(op: Op): void {
    if (this.isRecorded) this.owners.opStop(op);
  }

  blockOver(block: Block): void {
    if (block.kernel && !block.isJudged) this.judge(block, block.kernel);
  }

  finish(): void {
    const blocks = this.owners.all();
    for (const block of blocks) this.blockOver(block);
    for (const block of blocks) this.blockForgotten(block);
    for (const kernel of this.open.all()) this.draw(kernel, this.interval(kernel));
  }

  private judge(block: Block, kernel: Kernel): void {
    block.isJudged = true;
    const interval = this.interval(kernel);
    const stamps = this.stamped(kernel);
    const isOfOther =
      interval.suspect === null
        ? stamps !== null && this.owners.cannotEndAt(block, stamps.end)
        : OF_OTHERS.includes(interval.suspect);
    if (!isOfOther) {
      block.kernel = null;
      block.isDrawn = interval.suspect === null;
      this.draw(kernel, interval);
      return;
    }
    const owner = stamps && this.owners.ownerOf(kernel, stamps.start, stamps.end);
    if (!owner || owner === block || owner.isDrawn) return;
    for (const older of this.owners.before(owner, kernel)) this.blockForgotten(older);
    owner.kernel = null;
    owner.isJudged = owner.isDrawn = true;
    this.draw({ ...kernel, work: owner.work }, stamps, kernel.work);
  }

  /** Draws the kernel of a block for which no stamps will follow. */
  blockForgotten(block: Block): void {
    const { kernel } = block;
    if (!kernel) return;
    block.kernel = null;
    const interval = this.interval(kernel);
    const suspect = interval.suspect ?? (block.isJudged ? OF_OTHER : null);
    this.draw(kernel, suspect === null ? interval : { ...this.noticed(kernel), suspect });
  }

  /** `reportedWith`: the other work that NCCL reported with these stamps. */
  private draw(kernel: Kernel, interval: Interval, reportedWith: Work | null = null): void {
    const { sink } = this.context;
    const channel = this.channelOf(kernel);
    if (interval.suspect !== null) this.suspects++;
    const lane = channel.lanes.acquire(interval.start);
    if (interval.end !== null) channel.lanes.release(lane, interval.end);
    const track = channel.lanes.track(lane);
    const slice = sink.begin(track, interval.start, kernelName(kernel), {
      args: kernelArgs(kernel, interval, reportedWith),
      correlation: this.correlations.of(kernel.work),
    });
    if (interval.end !== null) sink.end(track, interval.end, slice);
  }

  private interval(kernel: Kernel): Interval {
    const gpuTime = this.context.gpuTime(kernel.comm);
    const noticed = this.noticed(kernel);
    const { start, end, aborted } = noticed;
    if (kernel.timerStart === null) return { ...noticed, suspect: this.unstamped(kernel) };
    if (!gpuTime) return { ...noticed, suspect: 'no GPU clock' };
    const suspect = this.suspicion(kernel, gpuTime, start, end);
    if (suspect !== null) return { ...noticed, suspect };
    const stamped = gpuTime(kernel.timerStart);
    const stampedEnd =
      kernel.timerStop !== null ? gpuTime(kernel.timerStop) : end === null ? null : later(stamped, end);
    return { start: stamped, end: stampedEnd, suspect: null, aborted };
  }

  private noticed(kernel: Kernel): Interval {
    const { time } = this.context;
    const start = time(kernel.start);
    const finalized = kernel.comm?.finalizeTick ?? null;
    const aborted = kernel.stop === null && finalized !== null && kernel.start <= finalized;
    const stop = aborted ? finalized : kernel.stop;
    return { start, end: stop === null ? null : later(start, time(stop)), suspect: null, aborted };
  }

  private stamped({ comm, timerStart, timerStop }: Kernel): Stamped | null {
    const gpuTime = this.context.gpuTime(comm);
    if (!gpuTime || timerStart === null || timerStop === null) return null;
    return { start: gpuTime(timerStart), end: gpuTime(timerStop), suspect: null, aborted: false };
  }

  private unstamped({ comm }: Kernel): string | null {
    return comm !== null && comm.abi >= FIRST_STAMPED_ABI ? 'no start timestamp' : null;
  }

  /** The comparisons also find NaN suspect, which comes from impossible stamps. */
  private suspicion(
    kernel: Kernel,
    gpuTime: (at: GpuNs) => TraceNs,
    start: TraceNs,
    end: TraceNs | null,
  ): string | null {
    const { work, timerStart, timerStop, stop, isOfOther } = kernel;
    if (timerStart === null) return null;
    const stamped = gpuTime(timerStart);
    const block = this.channelOf(kernel, false);
    if (stop !== null && timerStop === null) return 'no stop timestamp';
    if (timerStop !== null && !(timerStop >= timerStart)) return 'stops before it starts';
    if (!(stamped >= 0)) return 'starts before the recording';
    if (!(stamped <= start + GPU_SLACK_NS)) return 'starts after it was noticed';
    if (timerStop !== null && end !== null && !(gpuTime(timerStop) <= end + GPU_SLACK_NS))
      return 'stops after it was noticed';
    if (work && stamped < this.context.time(work.earliest) - GPU_SLACK_NS) {
      block.isLagging = true;
      return BEFORE_CALL;
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

const nameOf = ({ func, seq, peer }: Work): string =>
  seq === null ? `${func}, peer ${peer}` : `${func} seq ${seq}`;

function kernelName({ phase, work }: Kernel): string {
  return phase ?? blockName(work?.func ?? 'unknown');
}

const blockName = memoized((func: string) => `${func} kernel`);

function later(a: TraceNs, b: TraceNs): TraceNs {
  return a > b ? a : b;
}

function kernelArgs(
  { phase, work, parent }: Kernel,
  { suspect, aborted }: Interval,
  reportedWith: Work | null,
): Args {
  const args: [string, ArgValue][] = [];
  if (phase !== null) args.push(['op', work?.func ?? 'unknown']);
  const text = parentText(parent);
  if (text !== null) args.push(['parent', text]);
  if (reportedWith !== null) args.push(['reportedWith', nameOf(reportedWith)]);
  if (suspect !== null) args.push(['suspect', suspect]);
  if (aborted) args.push(['end', 'communicator finalized']);
  return args;
}
