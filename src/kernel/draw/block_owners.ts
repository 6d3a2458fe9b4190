/**
 * Finds the work whose block a pair of GPU stamps shows. NCCL may report a kernel with the stamps of other work (stamp_owners.ts). The
 * blocks of one channel run one after the other, so stamps belong to the work whose block certainly ran between them. A block has begun when
 * its GPU gave the first sign. It has not ended before its last data arrived. Only operations on the network show this.
 */

import { Block, Op, Work } from '../event';
import { Comm } from '../comm';
import { file } from '../file';
import { TextFlag } from '../file_texts';
import { hold, letGo } from '../rows';
import { Clock } from './clock';
import { GPU_SLACK_NS } from './works';

/** NCCL keeps this many stamps per channel, so it cannot read older ones by mistake. */
const KEPT: i32 = 64;

/** A work on one channel. */
export class OwnBlock {
  readonly ops: Op[] = [];
  /** Its block, if it is not drawn yet: its operations have not ended, or its stamps are of other work and its own may follow. */
  block: Block | null = null;
  isJudged: bool = false;
  /** It was drawn with stamps of its own. */
  isDrawn: bool = false;

  constructor(public work: Work) {}

  get isOver(): bool {
    const ops = this.ops;
    for (let i = 0; i < ops.length; i++) if (!ops[i].hasStopped) return false;
    return ops.length > 0;
  }

  setBlock(block: Block | null): void {
    const before = this.block;
    if (block !== null) hold(block);
    this.block = block;
    if (before !== null) letGo(before);
  }
}

/** What is done with a block that is over, or too old to be found again. */
export abstract class OwnerListener {
  abstract blockOver(own: OwnBlock): void;
  abstract blockForgotten(own: OwnBlock): void;
}

/** The blocks of a channel, in order of their first record. */
class Channel {
  readonly blocks: OwnBlock[] = [];
}

/** A communicator with operations. */
class CommBlocks {
  readonly channels: Channel[] = [];
  private readonly places: StaticArray<Channel | null> = new StaticArray<Channel | null>(256);

  at(channel: i32): Channel | null {
    return this.places[channel & 0xff];
  }

  make(channel: i32): Channel {
    const known = this.at(channel);
    if (known !== null) return known;
    const made = new Channel();
    this.places[channel & 0xff] = made;
    this.channels.push(made);
    return made;
  }
}

export class BlockOwners {
  private readonly comms: CommBlocks[] = [];
  private readonly places: Map<i32, CommBlocks> = new Map<i32, CommBlocks>();
  private readonly free: OwnBlock[] = [];

  listener: OwnerListener | null = null;

  constructor(private readonly clock: Clock) {}

  opStarted(op: Op): void {
    const work = op.work;
    if (work === null || !work.comm.isKnown) return;
    const number = work.comm.number;
    if (!this.places.has(number)) {
      const made = new CommBlocks();
      this.places.set(number, made);
      this.comms.push(made);
    }
    hold(op);
    this.of(work, op.channel)!.ops.push(op);
  }

  /** The steps of all rings are known up to now. If this block is over, the blocks before it on its channel are over, too. */
  opStopped(op: Op): void {
    const work = op.work;
    if (work === null) return;
    const channel = this.on(work.comm, op.channel);
    if (channel === null) return;
    const blocks = channel.blocks;
    const at = placeOf(blocks, work);
    if (at < 0 || !blocks[at].isOver) return;
    for (let place = 0; place <= at; place++) this.listener!.blockOver(blocks[place]);
  }

  /** null: the communicator has no operations. */
  of(work: Work, channel: i32): OwnBlock | null {
    const number = work.comm.number;
    if (!work.comm.isKnown || !this.places.has(number)) return null;
    const blocks = this.places.get(number).make(channel).blocks;
    const place = placeOf(blocks, work);
    if (place >= 0) return blocks[place];
    const made = this.newBlock(work);
    blocks.push(made);
    if (blocks.length > KEPT) {
      const oldest = blocks.shift();
      this.listener!.blockForgotten(oldest);
      for (let i = 0; i < oldest.ops.length; i++) letGo(oldest.ops[i]);
      oldest.ops.length = 0;
      this.free.push(oldest);
    }
    return made;
  }

  private newBlock(work: Work): OwnBlock {
    if (this.free.length == 0) return new OwnBlock(work);
    const own = this.free.pop();
    own.work = work;
    own.isJudged = own.isDrawn = false;
    return own;
  }

  /** The only work whose block certainly ran between these times. null: none, or several works in one block. */
  ownerOf(block: Block, from: f64, to: f64): OwnBlock | null {
    const channel = this.on(block.comm, block.channel);
    if (channel === null) return null;
    let owner: OwnBlock | null = null;
    for (let i = 0; i < channel.blocks.length; i++) {
      const one = channel.blocks[i];
      if (!(this.begun(one) <= to - GPU_SLACK_NS && this.lastData(one) >= from + GPU_SLACK_NS)) continue;
      if (owner !== null) return null;
      owner = one;
    }
    return owner;
  }

  /** With the Simple protocol a GPU takes data only after the proxy thread has seen their arrival, so the block cannot have ended before. */
  cannotEndAt(own: OwnBlock, to: f64): bool {
    return file().hasText(own.work.proto, TextFlag.IsSimple) && this.lastData(own) > to + GPU_SLACK_NS;
  }

  all(): OwnBlock[] {
    const all: OwnBlock[] = [];
    for (let i = 0; i < this.comms.length; i++) {
      const channels = this.comms[i].channels;
      for (let n = 0; n < channels.length; n++)
        for (let b = 0; b < channels[n].blocks.length; b++) all.push(channels[n].blocks[b]);
    }
    return all;
  }

  /** Older blocks on its channel. */
  before(own: OwnBlock, block: Block): OwnBlock[] {
    const channel = this.on(block.comm, block.channel);
    if (channel === null) return [];
    return channel.blocks.slice(0, channel.blocks.indexOf(own));
  }

  private on(comm: Comm, channel: i32): Channel | null {
    if (!comm.isKnown || !this.places.has(comm.number)) return null;
    return this.places.get(comm.number).at(channel);
  }

  private begun(own: OwnBlock): f64 {
    let begun = Infinity;
    for (let i = 0; i < own.ops.length; i++) {
      const at = own.ops[i].gpuBegan;
      if (!isNaN(at)) begun = min(begun, this.clock.time(at));
    }
    return begun;
  }

  private lastData(own: OwnBlock): f64 {
    let last = -Infinity;
    for (let i = 0; i < own.ops.length; i++) {
      const at = own.ops[i].lastData;
      if (!isNaN(at)) last = max(last, this.clock.time(at));
    }
    return last;
  }
}

/** -1: it has none. */
function placeOf(blocks: OwnBlock[], work: Work): i32 {
  let place = blocks.length - 1;
  while (place >= 0 && blocks[place].work !== work) place--;
  return place;
}
