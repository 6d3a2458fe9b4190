/**
 * For which node data waited: a GPU, or any other of its node to which a ring passes the data, takes them slowly. Two things show it in a ring.
 *
 * - Data that had arrived waited for the GPU of the connection, longer than on any other node.
 * - The data stayed in the node longer than in any other of as many GPUs: from when they arrived until its GPUs had filled a send with them. A
 *   ring passes on what it receives, so the sum of both times is enough, and no step of one file has to be found in another.
 *
 * In a tree a node begins with a send of its own if all its children are its own GPUs, else when data have come. The first shows when the last
 * of its GPUs began. In most trees a node that has children elsewhere is a leaf in the second tree, on other channels.
 *
 * The time in which the GPU had other work counts for nobody: sends and receives, and all of other communicators. If it is not known when that
 * was over, nothing is claimed. A GPU whose sends take as long has no room for more: it waits for a later rank or for the wire.
 */

import { addTo } from '../base/grouped.js';
import { minOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import type { LoneWait } from '../cluster/late_spans.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import { ranksInComm } from './absence.js';
import type { Case } from './case.js';
import type { CallNumber, Passage } from './file_facts.js';
import { placesOf } from './wait_chains.js';

export interface TakenLate {
  /** By its lowest file. */
  readonly byNode: ReadonlyMap<number, LoneWait[]>;
  /** How many nodes were compared. */
  readonly nodes: number;
  /** ns, by channel: how long data waited on it. */
  readonly channels: ReadonlyMap<number, number>;
  /** The collectives of which all nodes have steps. */
  readonly whole: readonly Collective[];
}

/** `all`: collectives that are whole. `size`: ranks of the communicator. */
export function takenLate(
  comm: ClusterComm,
  all: readonly Collective[],
  size: number,
  { ranks, clockBound }: Case,
): TakenLate | null {
  const { nodeOf } = placesOf(ranks, comm.commId);
  const nodes = [...new Map(comm.files.map((file) => [minOf(nodeOf(file).files), nodeOf(file).files]))];
  const newest = all.slice(-Math.floor(MOST_CALLS / comm.files.length));
  if (nodes.length < 2) return null;
  const placeOf = placesIn(newest);
  const passed = nodes.map(([first, files]) => passedThrough(first, files, comm.commId, placeOf, ranks));
  const byNode = new Map<number, LoneWait[]>();
  const channels = new Map<number, number>();
  const whole: Collective[] = [];
  for (const [place, one] of newest.entries()) {
    const through = passed.map((ofNode) => ofNode[place]);
    if (!isOfAll(through)) continue;
    whole.push(one);
    const delays = [
      longestHeld(through),
      longestInside(through, size, one),
      lastToBegin(through, clockBound),
    ];
    const most = delays.reduce((a, b) => (b && (a === null || b.took > a.took) ? b : a), null);
    if (!most) continue;
    const { file, first, to, took, channel } = most;
    const rank = ranksInComm(ranks[file]!, comm.commId)[0]!;
    const spell = { from: to - took, to, called: -Infinity };
    addTo(byNode, first, { ...spell, file, rank, basis: 'step', one, bound: 0 });
    if (channel !== null) channels.set(channel, (channels.get(channel) ?? 0) + most.waited);
  }
  return whole.length === 0 ? null : { byNode, nodes: nodes.length, channels, whole };
}

/** Times that are looked up. A longer run shows in its last part what the whole would. */
const MOST_CALLS = 400_000;

const isOfAll = (through: readonly (Through | undefined)[]): through is readonly Through[] =>
  !through.includes(undefined);

/** What the files of a node show of one collective: each sum is of all its steps. In a tree `freeFrom` is when all could begin. */
interface Through extends Omit<Passage, keyof CallNumber> {
  /** The lowest file of the node. */
  readonly first: number;
  /** Where the data wait, or come in, or the first sign was seen. */
  file: number;
  readonly files: number;
}

interface Delay {
  readonly first: number;
  readonly file: number;
  readonly to: number;
  /** ns: how much longer than on the next node. */
  readonly took: number;
  /** ns */
  readonly waited: number;
  readonly channel: number | null;
}

/** By place. `first`: the lowest of the node's files. */
function passedThrough(
  first: number,
  files: readonly number[],
  commId: bigint,
  placeOf: (call: CallNumber) => number | undefined,
  ranks: Case['ranks'],
): Through[] {
  const found: Through[] = [];
  for (const file of files)
    ranks[file]!.calls.eachPassage(commId, (passage) => {
      if (!passage.isTree && !passage.plan.startsWith('RING')) return;
      const place = placeOf(passage);
      if (place === undefined) return;
      const own = (found[place] ??= newThrough(passage, first, file, files.length));
      if (passage.isTree) addBegin(own, passage, file);
      else addSteps(own, passage, file);
    });
  return found;
}

function addBegin(own: Through, { freeFrom, begins, data }: Passage, file: number): void {
  own.freeFrom = Math.max(own.freeFrom, freeFrom);
  if (Number.isNaN(begins) || own.begins <= begins) return;
  own.file = file;
  own.begins = begins;
  own.data = data;
}

function addSteps(own: Through, passage: Passage, file: number): void {
  if (own.receivedSteps === 0) own.file = file;
  if (!Number.isNaN(passage.heldTo) && !(heldOf(own) >= heldOf(passage))) {
    own.heldFrom = passage.heldFrom;
    own.heldTo = passage.heldTo;
    own.heldChannel = passage.heldChannel;
    own.file = file;
  }
  const { sentSteps, receivedSteps } = passage;
  own.noRoom = Math.max(own.noRoom, passage.noRoom);
  own.sends += passage.sends;
  own.sentSteps += sentSteps;
  own.receivedSteps += receivedSteps;
  if (sentSteps > 0) own.sentAt += sentSteps * passage.sentAt;
  if (sentSteps > 0) own.onWire += sentSteps * passage.onWire;
  if (receivedSteps > 0) own.receivedAt += receivedSteps * passage.receivedAt;
}

const newThrough = ({ plan, isTree }: Passage, first: number, file: number, files: number): Through => ({
  plan,
  first,
  file,
  heldFrom: NaN,
  heldTo: NaN,
  heldChannel: NaN,
  isTree,
  freeFrom: -Infinity,
  begins: NaN,
  data: NaN,
  noRoom: 0,
  sends: 0,
  sentSteps: 0,
  sentAt: 0,
  onWire: 0,
  receivedSteps: 0,
  receivedAt: 0,
  files,
});

/** ns; NaN: none. */
const heldOf = ({ heldFrom, heldTo }: Pick<Through, 'heldFrom' | 'heldTo'>): number => heldTo - heldFrom;

/**
 * The place of a call. A file's calls mostly come in the same order, so the next place is tried first. Else by numbers, because a large job asks
 * millions of times: few calls have the same sum.
 */
function placesIn(whole: readonly Collective[]): (call: CallNumber) => number | undefined {
  const places = new Map<number, number[]>();
  const sumOf = ({ seq, ordinal }: CallNumber): number => seq + ordinal * 1_000_003;
  for (const [place, one] of whole.entries()) addTo(places, sumOf(one), place);
  const isAt = (place: number, { func, seq, ordinal }: CallNumber): boolean => {
    const one = whole[place];
    return one?.seq === seq && one.ordinal === ordinal && one.func === func;
  };
  let next = 0;
  return (call) => {
    const place = isAt(next, call) ? next : places.get(sumOf(call))?.find((place) => isAt(place, call));
    if (place !== undefined) next = place + 1;
    return place;
  };
}

/** The node of the greatest value, and the next greatest value. NaN: a node that does not count. */
function greatestTwo(
  nodes: readonly Through[],
  valueOf: (node: Through) => number,
): { readonly most: Through | null; readonly value: number; readonly next: number } {
  let most: Through | null = null;
  let [value, next] = [NaN, NaN];
  for (const node of nodes) {
    const own = valueOf(node);
    if (most === null ? !Number.isNaN(own) : own > value) [most, value, next] = [node, own, value];
    else if (own > next || Number.isNaN(next)) next = own;
  }
  return { most, value, next };
}

function longestHeld(nodes: readonly Through[]): Delay | null {
  const { most, value, next } = greatestTwo(nodes, (node) =>
    2 * node.noRoom >= heldOf(node) ? NaN : heldOf(node),
  );
  if (!most) return null;
  const { first, file, heldTo, heldChannel } = most;
  const took = value - (Number.isNaN(next) ? 0 : next);
  return { first, file, to: heldTo, took, waited: value, channel: heldChannel };
}

/**
 * In a tree. A node that took data at once, when they had come long after its call, began at any time before. Nodes of more GPUs have more to
 * add up first.
 */
function lastToBegin(nodes: readonly Through[], clockBound: Case['clockBound']): Delay | null {
  const began = nodes.filter(couldBegin).sort((a, b) => b.begins - a.begins);
  const [most, second] = began;
  if (!most || !second || began.some(({ files }) => files !== most.files)) return null;
  const { first, file, begins: at } = most;
  const next = second.begins + clockBound(file, second.file, at as TraceNs);
  const took = at - Math.max(couldBeginAt(most), next);
  return took > 0 ? { first, file, to: at, took, waited: took, channel: null } : null;
}

const couldBeginAt = ({ freeFrom, data }: Through): number => (data > freeFrom ? data : freeFrom);

const couldBegin = (node: Through): boolean => {
  const { isTree, freeFrom, begins } = node;
  const at = couldBeginAt(node);
  return isTree && freeFrom < begins && at - freeFrom < begins - at;
};

/**
 * On a ring as many slices are under way at any time: each rank begins with those of its own chunk, and from then on passes on what it
 * gets. Where they queue, a GPU is slow. If they stay in one node for T longer than in another, each lap around the ring takes T longer, and
 * the others wait for that share of a lap. If as many queue as half fill a connection, they wait all the time. But a GPU that is a little
 * slower than the others has a long queue, too. So at most what the GPUs of the other node have not worked themselves is lost.
 */
function longestInside(
  nodes: readonly Through[],
  size: number,
  { lastArrival, end }: Collective,
): Delay | null {
  const { plan, files, sends, sentSteps } = nodes[0]!;
  const isComparable = nodes.every(
    (one) =>
      one.plan === plan &&
      one.files === files &&
      one.sends === sends &&
      one.sentSteps === sentSteps &&
      one.receivedSteps === sentSteps,
  );
  if (!isComparable || sends === 0 || end === null) return null;
  const slices = plan.endsWith('SIMPLE') ? 2 : 1;
  const duration = end - lastArrival;
  // What it sends first and receives last does not pass through it.
  const own = files * slices * sends * duration;
  // NCCL sends one slice after the other and does not look at the next before. So its GPU may have filled it long ago.
  const isWireBusy = ({ onWire }: Through): boolean => onWire / sends / duration >= BUSY;
  const { most, value, next } = greatestTwo(nodes, (node) =>
    isWireBusy(node) ? NaN : node.sentAt - node.receivedAt + own,
  );
  // Alone it shows nothing: each node holds as many slices as it has work for.
  if (!most || Number.isNaN(next)) return null;
  const ofNext = next / sends;
  const queued = (value / sends - ofNext) / duration;
  const share = queued >= HALF_FULL / slices ? 1 : queued / (size * slices);
  const took = Math.min(share * duration, duration - ofNext / files);
  if (took <= 0) return null;
  return { first: most.first, file: most.file, to: end, took, waited: took, channel: null };
}

/** Half of the steps that a connection has room for. A slice of SIMPLE is two of them, and a chunk two slices; else all are one. */
const HALF_FULL = 4;
/** Slices on the wire of a connection, at a time. */
const BUSY = 0.5;
