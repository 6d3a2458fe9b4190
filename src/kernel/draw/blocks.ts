/**
 * Kernel channels: the GPU's own stamps (%globaltimer) on the host's clock, with one track per communicator and channel. A slice is written
 * late, when the kernel's stop is known. In known cases NCCL reports stamps of other work. They are drawn as that work's kernel if its
 * network operations show that it ran then (block_owners.ts). An impossible timestamp is never drawn. The slice then shows when the proxy
 * thread noticed the kernel, and says so. The phases of a block (v7) have a track below.
 */

import { Block, Op, Work } from '../event';
import { Comm } from '../comm';
import { OpenSet } from '../open_set';
import { BlockOwners, OwnBlock, OwnerListener } from './block_owners';
import { Clock } from './clock';
import { CommGroups } from './comm_groups';
import { workCorrelation } from './identity';
import { CommLanes } from './lanes';
import { Sink } from './sink';
import { Text } from './text';
import { What } from './tracks';
import { Detail } from './windows';
import { cutAt, cutText, parentText } from './words';
import { GPU_SLACK_NS } from './works';

/** Before v4 there are no timestamps. */
const FIRST_STAMPED_ABI: i32 = 4;

/** Why a kernel's stamps are not drawn. */
const enum Suspect {
  Not,
  NoClock,
  NoStart,
  NoStop,
  StopsBeforeStart,
  BeforeRecording,
  StartsAfterNotice,
  StopsAfterNotice,
  BeforeCall,
  OfOther,
}

/** ns of the trace. */
class Interval {
  start: f64 = 0;
  /** NaN: not finished when the recording ended. */
  end: f64 = 0;
  suspect: Suspect = Suspect.Not;
  isCut: bool = false;
}

/** Blocks of one channel, or phases. */
class Channel {
  /** Its stamps are those of other work (stamp_owners.ts), here by the solved clock. */
  isLagging: bool = false;

  constructor(readonly lanes: CommLanes) {}
}

export class Blocks extends OwnerListener {
  /** Slices that show when a kernel was noticed. */
  suspects: i32 = 0;
  private readonly channels: Map<u64, Channel> = new Map<u64, Channel>();
  private readonly open: OpenSet<Block> = new OpenSet<Block>();
  private readonly owners: BlockOwners;
  /** The stamps of a block, and when it was noticed: used again for the next one. */
  private readonly stamps: Interval = new Interval();
  private readonly interval: Interval = new Interval();

  /** `isRecorded`: the recording has kernels. */
  constructor(
    private readonly sink: Sink,
    private readonly clock: Clock,
    private readonly groups: CommGroups,
    private readonly isRecorded: bool,
  ) {
    super();
    const owners = new BlockOwners(clock);
    this.owners = owners;
    owners.listener = this;
  }

  started(block: Block): void {
    this.open.add(block);
  }

  stopped(block: Block): void {
    this.open.delete(block);
    const work = block.work;
    const own: OwnBlock | null =
      work === null || block.isPhase || isNaN(block.timerStop) ? null : this.owners.of(work, block.channel);
    if (own === null || own.block !== null || own.isJudged)
      this.draw(block, block.work, this.intervalOf(block));
    else {
      own.setBlock(block);
      if (own.isOver) this.judge(own, block);
    }
  }

  opStarted(op: Op): void {
    if (this.isRecorded) this.owners.opStarted(op);
  }

  opStopped(op: Op): void {
    if (this.isRecorded) this.owners.opStopped(op);
  }

  blockOver(own: OwnBlock): void {
    const block = own.block;
    if (block !== null && !own.isJudged) this.judge(own, block);
  }

  /** Draws the block of a work for which no stamps will follow. */
  blockForgotten(own: OwnBlock): void {
    const block = own.block;
    if (block === null) return;
    const interval = this.intervalOf(block);
    if (own.isJudged && interval.suspect == Suspect.Not) {
      this.notice(block, interval);
      interval.suspect = Suspect.OfOther;
    }
    this.draw(block, block.work, interval);
    own.setBlock(null);
  }

  finish(): void {
    const all = this.owners.all();
    for (let i = 0; i < all.length; i++) this.blockOver(all[i]);
    for (let i = 0; i < all.length; i++) this.blockForgotten(all[i]);
    const open = this.open.all();
    for (let i = 0; i < open.length; i++) this.draw(open[i], open[i].work, this.intervalOf(open[i]));
  }

  private judge(own: OwnBlock, block: Block): void {
    own.isJudged = true;
    const interval = this.intervalOf(block);
    const hasStamps =
      this.clock.hasGpu(block.comm.number) && !isNaN(block.timerStart) && !isNaN(block.timerStop);
    const stamps = this.stamps;
    if (hasStamps) {
      stamps.start = this.clock.gpuTime(block.comm.number, block.timerStart);
      stamps.end = this.clock.gpuTime(block.comm.number, block.timerStop);
    }
    const suspect = interval.suspect;
    const isOfOther =
      suspect == Suspect.Not
        ? hasStamps && this.owners.cannotEndAt(own, stamps.end)
        : suspect == Suspect.OfOther || suspect == Suspect.BeforeCall;
    if (!isOfOther) {
      own.isDrawn = suspect == Suspect.Not;
      this.draw(block, block.work, interval);
      own.setBlock(null);
      return;
    }
    const owner: OwnBlock | null = hasStamps ? this.owners.ownerOf(block, stamps.start, stamps.end) : null;
    if (owner === null || owner === own || owner.isDrawn) return;
    const older = this.owners.before(owner, block);
    for (let i = 0; i < older.length; i++) this.blockForgotten(older[i]);
    owner.setBlock(null);
    owner.isJudged = owner.isDrawn = true;
    this.draw(block, owner.work, stamps, block.work);
  }

  /** `reportedWith`: the other work that NCCL reported with these stamps. */
  private draw(block: Block, work: Work | null, interval: Interval, reportedWith: Work | null = null): void {
    const sink = this.sink;
    const lanes = this.channelOf(block, block.isPhase).lanes;
    const start = interval.start;
    const end = interval.end;
    if (interval.suspect != Suspect.Not) this.suspects++;
    const lane = lanes.acquire(start);
    if (!isNaN(end)) lanes.release(lane, end);
    const track = lanes.track(lane);
    this.addArgs(block, work, interval, reportedWith);
    sink.correlate(work === null ? 0 : workCorrelation(work));
    sink.begin(track, start, this.nameOf(block, work));
    if (!isNaN(end)) sink.endInnermost(track, end);
  }

  private intervalOf(block: Block): Interval {
    const interval = this.interval;
    const clock = this.clock;
    const comm = block.comm.number;
    this.notice(block, interval);
    if (isNaN(block.timerStart)) {
      if (block.comm.isKnown && block.comm.abi >= FIRST_STAMPED_ABI) interval.suspect = Suspect.NoStart;
      return interval;
    }
    if (!clock.hasGpu(comm)) {
      interval.suspect = Suspect.NoClock;
      return interval;
    }
    interval.suspect = this.suspicion(block, interval);
    if (interval.suspect != Suspect.Not) return interval;
    const noticed = interval.end;
    interval.start = clock.gpuTime(comm, block.timerStart);
    if (!isNaN(block.timerStop)) interval.end = clock.gpuTime(comm, block.timerStop);
    else interval.end = isNaN(noticed) ? NaN : max(interval.start, noticed);
    return interval;
  }

  private notice(block: Block, interval: Interval): void {
    const stop = isNaN(block.stop) ? cutAt(block.comm, block.work, block.start) : block.stop;
    interval.start = this.clock.time(block.start);
    interval.end = isNaN(stop) ? NaN : max(interval.start, this.clock.time(stop));
    interval.suspect = Suspect.Not;
    interval.isCut = isNaN(block.stop) && !isNaN(stop);
  }

  /** The comparisons also find NaN suspect, which comes from impossible stamps. */
  private suspicion(block: Block, noticed: Interval): Suspect {
    const clock = this.clock;
    const comm = block.comm.number;
    const stamped = clock.gpuTime(comm, block.timerStart);
    const channel = this.channelOf(block, false);
    const work = block.work;
    const hasStop = !isNaN(block.timerStop);
    if (!isNaN(block.stop) && !hasStop) return Suspect.NoStop;
    if (hasStop && !(block.timerStop >= block.timerStart)) return Suspect.StopsBeforeStart;
    if (!(stamped >= 0)) return Suspect.BeforeRecording;
    if (!(stamped <= noticed.start + GPU_SLACK_NS)) return Suspect.StartsAfterNotice;
    if (
      hasStop &&
      !isNaN(noticed.end) &&
      !(clock.gpuTime(comm, block.timerStop) <= noticed.end + GPU_SLACK_NS)
    )
      return Suspect.StopsAfterNotice;
    if (work !== null && stamped < clock.time(work.earliest) - GPU_SLACK_NS) {
      channel.isLagging = true;
      return Suspect.BeforeCall;
    }
    return block.isOfOther || channel.isLagging ? Suspect.OfOther : Suspect.Not;
  }

  private channelOf(block: Block, isPhase: bool): Channel {
    const comm = block.comm;
    const number = block.channel * 2 + (isPhase ? 1 : 0);
    const key = ((<u64>(comm.number + 1)) << 16) | (<u64>number);
    if (this.channels.has(key)) return this.channels.get(key);
    const made = new Channel(this.newLanes(comm, block.channel, isPhase));
    this.channels.set(key, made);
    return made;
  }

  private newLanes(comm: Comm, channel: i32, isPhase: bool): CommLanes {
    return new CommLanes(
      this.sink,
      this.groups.group(comm),
      comm.number,
      What.Blocks,
      Detail.Op,
      channel,
      isPhase ? 1 : 0,
    );
  }

  private nameOf(block: Block, work: Work | null): Text {
    const texts = this.sink.texts;
    const phase = block.phase;
    if (phase !== null) return phase;
    return work === null ? texts.fixed('unknown kernel') : texts.around('', work.func, ' kernel');
  }

  private addArgs(block: Block, work: Work | null, interval: Interval, reportedWith: Work | null): void {
    const sink = this.sink;
    const texts = sink.texts;
    if (block.isPhase)
      sink.text(texts.fixed('op'), work === null ? texts.fixed('unknown') : texts.ofFile(work.func));
    const parent = parentText(block.link);
    if (parent != '') sink.text(texts.fixed('parent'), texts.fixed(parent));
    if (reportedWith !== null) sink.text(texts.fixed('reportedWith'), this.workName(reportedWith));
    if (interval.suspect != Suspect.Not)
      sink.text(texts.fixed('suspect'), texts.fixed(suspectText(interval.suspect)));
    if (interval.isCut) sink.text(texts.fixed('end'), texts.fixed(cutText(block.comm, block.start)));
  }

  private workName(work: Work): Text {
    const texts = this.sink.texts;
    const number = work.isColl ? ' seq ' + whole(work.seq) : ', peer ' + work.peer.toString();
    return texts.of(texts.contentOf(work.func) + number);
  }
}

function whole(number: f64): string {
  return (<i64>number).toString();
}

function suspectText(suspect: Suspect): string {
  switch (suspect) {
    case Suspect.NoClock:
      return 'no GPU clock';
    case Suspect.NoStart:
      return 'no start timestamp';
    case Suspect.NoStop:
      return 'no stop timestamp';
    case Suspect.StopsBeforeStart:
      return 'stops before it starts';
    case Suspect.BeforeRecording:
      return 'starts before the recording';
    case Suspect.StartsAfterNotice:
      return 'starts after it was noticed';
    case Suspect.StopsAfterNotice:
      return 'stops after it was noticed';
    case Suspect.BeforeCall:
      return 'starts before its call';
    default:
      return 'stamps of other work';
  }
}
