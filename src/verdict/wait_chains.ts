/**
 * Finds the stuck operation to look at first, among many. Each operation waits for another one: a receive for the peer's send, a send for
 * the peer's receive, a GPU wait for the other side of the same GPU. The chain of waits ends at one operation: its other side never came,
 * had died when the stall began, has no file, or contradicts it. This is the place to look first, though not always the reason.
 */

import { addTo, entryOf } from '../base/grouped.js';
import { ALL_TO_ALL } from '../model/roots.js';
import { Wait } from '../model/waits.js';
import { cached } from './case.js';
import type { PendingOp, PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';
import type { Front, Hang } from './types.js';

export interface FileWork {
  readonly file: number;
  readonly work: PendingWork;
}

interface FileOp extends FileWork {
  /** In the communicator: a process may have several. Less than 0: not known. */
  readonly rank: number;
  readonly op: PendingOp;
}

/**
 * `suspects`: files that never came or had died when the stall began. A peer without a file is suspect if no chain ends within the records.
 * `absentRanks`: ranks that did not come although others of their process did.
 */
export function endOfWaits(
  pending: readonly FileWork[],
  { fileOf, ...places }: Places,
  suspects: ReadonlySet<number> = new Set(),
  absentRanks: ReadonlySet<number> = new Set(),
): Front | null {
  const all = pending.flatMap(({ file, work }) => {
    const rank = places.rankOf(file, work) ?? -1 - file;
    return work.ops.map((op): FileOp => ({ file, rank, work, op }));
  });
  const [first] = all;
  if (!first) return null;
  const alone: Places['nodeOf'] = (file) => ({ name: '', files: [file] });
  // What goes over the network does not go through the inside of a node: several nodes have one name.
  const areMixed = all.some(({ file, rank, op }) => {
    const peer = fileOf(op.peer);
    return peer !== null && op.peer !== rank && places.nodeOf(file).files.includes(peer);
  });
  const nodeOf = areMixed ? alone : places.nodeOf;
  const isGone = ({ peer }: PendingOp): boolean => {
    const file = fileOf(peer);
    return file === null || suspects.has(file) || absentRanks.has(peer);
  };
  const isSuspect = ({ op }: FileOp): boolean => needsPeer(op) && isGone(op);
  /** Somebody of whom nothing is recorded may wait for another rank himself. What stands still in the records does not. */
  const certainty = (end: FileOp): number =>
    isSuspect(end) ? (fileOf(end.op.peer) === null ? 1 : 3) : chains.isEnd(end) ? 2 : 0;
  // Chains that end at the same missing rank wait for the same thing.
  const groups = new Map<FileOp | number, { ends: FileOp[]; waiters: number }>();
  const chains = new Chains(all, { nodeOf: passOnce(all, { fileOf, nodeOf }) ? nodeOf : alone }, isGone);
  for (const end of chains.ends().values()) {
    const key = isSuspect(end) ? end.op.peer : end;
    const group = entryOf(groups, key, () => ({ ends: [], waiters: 0 }));
    group.ends.push(end);
    group.waiters++;
  }
  const found = [...groups.values()].map(({ ends, waiters }) => ({ front: foremost(ends), waiters }));
  const ranked = [...found.filter(({ front: { op } }) => needsPeer(op)), ...leastDone(found)];
  const front = ranked.reduce((a, b) => {
    const order =
      certainty(b.front) - certainty(a.front) || b.waiters - a.waiters || compareProgress(a.front, b.front);
    return order > 0 ? b : a;
  });
  const { file, rank, work, op } = front.front;
  const { channel, peer, isSend, nSteps, done, wait, executor } = op;
  return {
    file,
    record: work.record,
    channel,
    inComm: rank,
    peerFile: fileOf(peer),
    peerInComm: peer,
    isSend,
    nSteps,
    done,
    wait,
    peerIsPast: chains.isPeerPast(front.front),
    isUnposted: chains.isUnposted(front.front),
    onWire: onWire(
      all.filter((one) => chains.isLost(one)),
      fileOf,
    ),
    executor,
    waiters: front.waiters,
    of: all.length,
    node: behind(front.front, nodeOf(file)),
  };
}

/** The links on which what was sent does not arrive, each once. */
function onWire(lost: readonly FileOp[], fileOf: Places['fileOf']): Front['onWire'] {
  const links = new Map<string, Front['onWire'][number] & { channels: number[] }>();
  for (const { file: peerFile, rank, op } of lost) {
    const file = fileOf(op.peer);
    const link = entryOf(links, `${op.peer} ${rank}`, () => ({
      ...{ file, inComm: op.peer, peerFile, peerInComm: rank, channels: [] },
    }));
    if (!link.channels.includes(op.channel)) link.channels.push(op.channel);
  }
  return [...links.values()];
}

/** Whether a ring or tree comes from one node to another at one place per channel. Else no record shows how data pass through the nodes. */
function passOnce(all: readonly FileOp[], { fileOf, nodeOf }: Pick<Places, 'fileOf' | 'nodeOf'>): boolean {
  const places = new Map<string, string>();
  return all.every(({ file, op }) => {
    const peer = fileOf(op.peer);
    if (peer === null) return true;
    const [from, to] = op.isSend ? [file, peer] : [peer, file];
    const way = `${op.channel} ${nodeOf(from).files.join()} to ${nodeOf(to).files.join()}`;
    const known = places.get(way) ?? `${from} ${to}`;
    places.set(way, known);
    return known === `${from} ${to}`;
  });
}

/**
 * A ring enters a node at one rank and leaves it at another, and no record shows the ranks in between. So a wait for the rank's own GPU may
 * be a wait for any GPU of the node. It is its own if its connections to both sides leave the node. It is its own, too, if it did not even
 * take the first step of a ring: each rank sends its own data first, and has room for the data that come first. In a tree a rank of the
 * network also needs the sums of its own node. Only results that come down pass through it alone.
 */
function behind(one: FileOp, node: Front['node'] & object): Front['node'] {
  const { file, work, op } = one;
  if (needsPeer(op) || work.seq === null || node.files.length < 2) return null;
  const isFirst = op.done === 0 && ALL_TO_ALL.includes(work.func);
  const isOther = (other: PendingOp): boolean => isAcross(one, { ...one, op: other });
  const isOwn = isTree(work)
    ? !carriesSums(one) && (op.isSend ? work.ops.some(isOther) : isFirst)
    : (isFirst && work.plan.startsWith('RING')) || work.ops.some(isOther);
  return isOwn || !node.files.includes(file) ? null : node;
}

const isTree = ({ plan }: PendingWork): boolean => /^\w*TREE/.test(plan);

/**
 * Whether what it moves in a tree are sums, on the way up. For each channel NCCL posts the receives from below, the send up, the sends down,
 * and the receive from above. What carries sums ends first.
 */
function carriesSums({ work, op: { channel, peer, isSend } }: FileOp): boolean {
  const [first, other] = work.ops.filter((one) => one.channel === channel && one.peer === peer);
  const isParent = first?.isSend === (other !== undefined);
  return isSend === isParent;
}

/** The GPU moves data from one of the two to the other, or adds up what both bring. */
const isAcross = (one: FileOp, other: FileOp): boolean =>
  (other.op.isSend !== one.op.isSend || (isTree(one.work) && other !== one && isSumFromBelow(one))) &&
  other.op.channel === one.op.channel &&
  (!isTree(one.work) || carriesSums(other) === carriesSums(one));

const isSumFromBelow = (one: FileOp): boolean => !one.op.isSend && carriesSums(one);

interface Group {
  readonly front: FileOp;
  readonly waiters: number;
}

/**
 * GPUs of one node wait for each other, and no record shows it. So all operations that wait for their own GPU are assumed to wait for the
 * one with the least progress.
 */
function leastDone(groups: readonly Group[]): Group[] {
  const own = groups.filter(({ front: { op } }) => !needsPeer(op));
  if (own.length === 0) return [];
  const waiters = own.reduce((sum, one) => sum + one.waiters, 0);
  return [{ front: foremost(own.map(({ front }) => front)), waiters }];
}

/** A GPU wait is for the rank's own GPU, so the peer does not matter. */
const needsPeer = ({ wait }: PendingOp): boolean => wait?.name !== Wait.Gpu;
const progress = ({ done, nSteps }: PendingOp): number => (nSteps === 0 ? 1 : done / nSteps);
const waitingSince = ({ wait }: PendingOp): number => wait?.since ?? Number.MAX_VALUE;

/** Waits that both sides of a connection have a part in. */
const BETWEEN: readonly Wait[] = [Wait.Recv, Wait.Peer, Wait.Send];

/** Those that the peer ends. */
const PEERS: readonly Wait[] = [Wait.Recv, Wait.Peer];

export const waitsForPeer = (
  op: PendingOp,
): op is PendingOp & { readonly wait: NonNullable<PendingOp['wait']> } =>
  op.wait !== null && BETWEEN.includes(op.wait.name);

class Chains {
  private readonly byPlace = new Map<string, FileOp[]>();
  private readonly ofRank = new Map<number, FileOp[]>();

  constructor(
    private readonly all: readonly FileOp[],
    private readonly places: Pick<Places, 'nodeOf'>,
    private readonly isGone: (op: PendingOp) => boolean,
  ) {
    for (const one of all) {
      addTo(this.byPlace, placeOf(one.rank, one.op.peer, one.op), one);
      addTo(this.ofRank, one.rank, one);
    }
  }

  /** Operation → end of its chain. A circle ends at its operation with least progress. */
  ends(): Map<FileOp, FileOp> {
    const ends = new Map<FileOp, FileOp>();
    for (const one of this.all) {
      const path: FileOp[] = [];
      let at = one;
      while (!ends.has(at) && !path.includes(at)) {
        path.push(at);
        at = this.next(at) ?? at;
      }
      const end = ends.get(at) ?? leastFar(path.slice(path.indexOf(at)));
      for (const passed of path) ends.set(passed, end);
    }
    return ends;
  }

  /** The records show that it waits for nobody else: not for a side that is not pending, and no circle was cut here. */
  isEnd(one: FileOp): boolean {
    const isKnown = one.op.wait !== null && (!PEERS.includes(one.op.wait.name) || this.isPeerPast(one));
    return (isKnown || this.isUnposted(one)) && this.next(one) === null;
  }

  /** The two sides contradict each other. */
  isPeerPast(one: FileOp): boolean {
    const other = this.sideOf(one);
    return waitsForPeer(one.op) && other !== null && other.op.done > one.op.wait.step;
  }

  /** The sender is past it, and the receiver waits. */
  isLost(one: FileOp): boolean {
    return !one.op.isSend && one.op.wait?.name === Wait.Recv && this.isPeerPast(one);
  }

  /** The peer waits for room, and the receive that gives it is not posted. */
  isUnposted(one: FileOp): boolean {
    const { rank, op } = one;
    const isNext = this.byPlace.get(placeOf(rank, op.peer, op))?.[0] === one;
    return !op.isSend && op.wait === null && isNext && this.sideOf(one)?.op.wait?.name === Wait.Peer;
  }

  /** null: it ends here. */
  private next(one: FileOp): FileOp | null {
    if (needsPeer(one.op) && this.isGone(one.op)) return null;
    switch (one.op.wait?.name) {
      case Wait.Gpu:
        return this.otherSide(one);
      case Wait.Recv:
      case Wait.Peer:
        return this.isPeerPast(one) ? null : this.sideOf(one);
      case undefined:
        return this.isUnposted(one) ? null : this.whyNotBegun(one);
      default:
        return null; // the network, or its own PCIe
    }
  }

  /** Its GPU has no data to send, or no room. Finds the operation for which the GPU waits, if need be at the other end of its node. */
  private otherSide(one: FileOp): FileOp | null {
    const { file, rank, work, op } = one;
    const own = (this.ofRank.get(rank) ?? []).filter((other) => isAcross(one, other));
    const inNode = this.places.nodeOf(file).files;
    const near =
      own.length > 0 || work.seq === null
        ? own
        : this.all.filter((other) => inNode.includes(other.file) && isAcross(one, other));
    const others = near.length > 0 || !isTree(work) ? near : this.atRoot(one);
    const onNetwork = others.filter((other) => isOnNetwork(other.op));
    if (onNetwork.length > 0) return leastFar(onNetwork);
    return op.isSend ? (others.find((other) => isUnbegun(other.op) || this.isUnposted(other)) ?? null) : null;
  }

  /** The root's GPU makes results of the sums from below, and sends them down. */
  private atRoot(one: FileOp): readonly FileOp[] {
    const isBelow = (other: FileOp): boolean => other.op.isSend !== carriesSums(other);
    const own = (this.ofRank.get(one.rank) ?? []).filter(({ op }) => op.channel === one.op.channel);
    return own.every(isBelow) ? own.filter(({ op }) => op.isSend !== one.op.isSend) : [];
  }

  /** The other end of a connection; null: it ended or never began. */
  private sideOf({ rank, op }: FileOp): FileOp | null {
    return this.byPlace.get(placeOf(op.peer, rank, { ...op, isSend: !op.isSend }))?.[0] ?? null;
  }

  /**
   * The operation has no step in flight: an earlier operation is on its connection, or the GPU has not begun. The earlier one may not be
   * recorded (a Broadcast). Then this one waits for data that pass through the peer, if the peer has not begun either.
   */
  private whyNotBegun(one: FileOp): FileOp | null {
    const queued = this.byPlace.get(placeOf(one.rank, one.op.peer, one.op)) ?? [];
    const before = queued[queued.indexOf(one) - 1] ?? this.otherSide(one);
    const sender = before || one.op.isSend ? null : this.sideOf(one);
    return before ?? (sender && isUnbegun(sender.op) ? sender : null);
  }
}

const isUnbegun = ({ wait, done }: PendingOp): boolean => wait === null && done === 0;
const isOnNetwork = ({ wait }: PendingOp): boolean => wait !== null && wait.name !== Wait.Gpu;

/**
 * A GPU that did nothing, while others moved data, is behind any progress of its connections. Of both ends of a connection it is the one
 * that waits for its GPU: the other one waits for it.
 */
const leastFar = (ops: readonly FileOp[]): FileOp =>
  ops.reduce((a, b) => {
    const byEnd = Number(needsPeer(a.op)) - Number(needsPeer(b.op));
    return (byGpu(a, b) || progress(a.op) - progress(b.op) || byEnd) > 0 ? b : a;
  });

/** At equal progress the one that has waited longest. */
const foremost = (ops: readonly FileOp[]): FileOp =>
  ops.reduce((a, b) => (compareProgress(a, b) > 0 ? b : a));
const compareProgress = (a: FileOp, b: FileOp): number =>
  byGpu(a, b) || progress(a.op) - progress(b.op) || waitingSince(a.op) - waitingSince(b.op);
const byGpu = (a: FileOp, b: FileOp): number => Number(lacksGpu(b)) - Number(lacksGpu(a));
/** Its GPU has done nothing for the work. */
const lacksGpu = ({ op, work }: FileOp): boolean => !work.hasMoved && !needsPeer(op);

const placeOf = (
  rank: number,
  peer: number,
  { channel, isSend }: Pick<PendingOp, 'channel' | 'isSend'>,
): string => `${rank} ${channel} ${isSend ? 'to' : 'from'} ${peer}`;

export function waitsOf(pending: readonly FileWork[]): Hang['waits'] {
  const waits = new Map<Hang['waits'][number][0], number>();
  for (const { wait } of pending.flatMap(({ work }) => work.ops)) {
    const name = wait?.name ?? 'no step in flight';
    waits.set(name, (waits.get(name) ?? 0) + 1);
  }
  return [...waits].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** Where the ranks of a communicator are. */
export interface Places {
  /** Rank in the communicator → its file. null: it has no file. */
  readonly fileOf: (inComm: number) => number | null;
  /** Rank in the communicator of a file's work. null: not known. */
  readonly rankOf: (file: number, work: Pick<PendingWork, 'comm'>) => number | null;
  /** The files of the file's node, this one among them. */
  readonly nodeOf: (file: number) => { readonly name: string; readonly files: readonly number[] };
}

export function placesOf(ranks: readonly RankWitness[], commId: bigint | null): Places {
  const known = commId === null || commId === 0n ? undefined : commsOf(ranks).get(commId);
  return {
    fileOf: (inComm) => known?.files.get(inComm) ?? null,
    rankOf: (file, { comm }) => (known && ranks[file]!.communicators.get(comm ?? -1)?.rank) ?? null,
    nodeOf: (file) => {
      const { id, name } = ranks[file]!.node;
      const files = known?.isAlone === false ? known.nodes.get(id) : undefined;
      return { name, files: files ?? [file] };
    },
  };
}

interface CommPlaces {
  /** By rank in the communicator. */
  readonly files: Map<number, number>;
  /** By id of the node. */
  readonly nodes: Map<string, number[]>;
  /** Each rank is a node of its own: one machine may stand for many. */
  isAlone: boolean;
}

const noPlaces = (): CommPlaces => ({ files: new Map(), nodes: new Map(), isAlone: false });

const commsOf = cached((ranks: readonly RankWitness[]): ReadonlyMap<bigint, CommPlaces> => {
  const comms = new Map<bigint, CommPlaces>();
  ranks.forEach(({ communicators, node }, file) => {
    for (const { commId, rank, nNodes, nRanks } of communicators.values()) {
      const places = entryOf(comms, commId, noPlaces);
      places.files.set(rank, file);
      if (places.nodes.get(node.id)?.at(-1) !== file) addTo(places.nodes, node.id, file);
      if (nNodes > 0 && nNodes === nRanks) places.isAlone = true;
    }
  });
  return comms;
});
