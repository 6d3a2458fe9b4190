/**
 * Finds the work whose block a pair of GPU stamps shows. NCCL may report a kernel with the stamps of other work (model/stamp_owners.ts).
 * The blocks of one channel run one after the other, so stamps belong to the work whose block certainly ran between them. A block has begun
 * when its GPU gave the first sign. It has not ended before its last data arrived. Only operations on the network show this.
 */

import type { Ticks, TraceNs } from '../../base/time.js';
import type { Kernel, Op, Work } from '../../model/types.js';
import { GPU_SLACK_NS } from '../../model/work_end.js';

/** NCCL keeps this many stamps per channel, so it cannot read older ones by mistake. */
const KEPT = 64;

/** A work on one channel. */
export interface Block {
  readonly work: Work;
  readonly ops: Op[];
  /** Its kernel, if it is not drawn yet: its operations have not ended, or its stamps are of other work and its own may follow. */
  kernel: Kernel | null;
  isJudged: boolean;
  /** It was drawn with stamps of its own. */
  isDrawn: boolean;
}

/** What is done with a block that is over, or too old to be found again. */
export interface BlockListener {
  blockOver(block: Block): void;
  blockForgotten(block: Block): void;
}

export class BlockOwners {
  /** By communicator with operations, then by channel. The blocks are in order of their first record. */
  private readonly comms = new Map<number, Map<number, Block[]>>();

  constructor(
    private readonly time: (at: Ticks) => TraceNs,
    private readonly listener: BlockListener,
  ) {}

  opStart(op: Op): void {
    const { work } = op;
    if (!work?.comm) return;
    if (!this.comms.has(work.comm.number)) this.comms.set(work.comm.number, new Map<number, Block[]>());
    this.blockOf(work, op.channel)!.ops.push(op);
  }

  /**
   * The steps of all rings are known up to now. If this block is over, the blocks before it on its channel are over, too.
   */
  opStop({ work, channel }: Op): void {
    if (!work) return;
    const blocks = this.on(work.comm, channel);
    const at = placeOf(blocks, work);
    if (at < 0 || !isOver(blocks[at]!)) return;
    for (let place = 0; place <= at; place++) this.listener.blockOver(blocks[place]!);
  }

  /** null: the communicator has no operations. */
  blockOf(work: Work, channel: number): Block | null {
    const channels = work.comm && this.comms.get(work.comm.number);
    if (!channels) return null;
    let blocks = channels.get(channel);
    if (!blocks) channels.set(channel, (blocks = []));
    const place = placeOf(blocks, work);
    if (place >= 0) return blocks[place]!;
    const block: Block = { work, ops: [], kernel: null, isJudged: false, isDrawn: false };
    blocks.push(block);
    if (blocks.length > KEPT) this.listener.blockForgotten(blocks.shift()!);
    return block;
  }

  /** The only work whose block certainly ran between these times. null: none, or several works in one block. */
  ownerOf({ comm, channel }: Kernel, from: TraceNs, to: TraceNs): Block | null {
    const owners = this.on(comm, channel).filter(({ ops }) => this.surelyRan(ops, from, to));
    return owners.length === 1 ? owners[0]! : null;
  }

  /**
   * With the Simple protocol a GPU takes data only after the proxy thread has seen their arrival, so the block cannot have ended before.
   */
  cannotEndAt({ work, ops }: Block, to: TraceNs): boolean {
    return work.proto === 'SIMPLE' && this.lastData(ops) > to + GPU_SLACK_NS;
  }

  all(): readonly Block[] {
    return [...this.comms.values()].flatMap((channels) => [...channels.values()].flat());
  }

  /** Older blocks on its channel. */
  before(block: Block, { comm, channel }: Kernel): readonly Block[] {
    const blocks = this.on(comm, channel);
    return blocks.slice(0, blocks.indexOf(block));
  }

  private on(comm: Kernel['comm'], channel: number): readonly Block[] {
    return (comm && this.comms.get(comm.number)?.get(channel)) ?? NO_BLOCKS;
  }

  private surelyRan(ops: readonly Op[], from: TraceNs, to: TraceNs): boolean {
    return this.begun(ops) <= to - GPU_SLACK_NS && this.lastData(ops) >= from + GPU_SLACK_NS;
  }

  private begun(ops: readonly Op[]): number {
    return ops.reduce(
      (at, { gpuBegan }) => (gpuBegan === null ? at : Math.min(at, this.time(gpuBegan))),
      Infinity,
    );
  }

  private lastData(ops: readonly Op[]): number {
    return ops.reduce(
      (at, { lastData }) => (lastData === null ? at : Math.max(at, this.time(lastData))),
      -Infinity,
    );
  }
}

const NO_BLOCKS: readonly Block[] = [];

/** -1: it has none. */
function placeOf(blocks: readonly Block[], work: Work): number {
  let place = blocks.length - 1;
  while (place >= 0 && blocks[place]!.work !== work) place--;
  return place;
}

export const isOver = ({ ops }: Block): boolean => ops.length > 0 && ops.every(({ stop }) => stop !== null);
