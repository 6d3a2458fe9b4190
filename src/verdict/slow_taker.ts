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

import { minOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import { listOf, type LoneWait } from '../cluster/late_spans.js';
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
  const passed = nodes.map(([, files]) => passedThrough(files, comm.commId, placeOf, ranks));
  const byNode = new Map<number, LoneWait[]>();
  const channels = new Map<number, number>();
  const whole: Collective[] = [];
  for (const [place, one] of newest.entries()) {
    const found = nodes.flatMap(([first], node) => {
      const through = passed[node]![place];
      return through ? [{ first, through }] : [];
    });
    if (found.length < nodes.length) continue;
    whole.push(one);
    const most = [longestHeld(found), longestInside(found, size, one), lastToBegin(found, clockBound)]
      .flatMap((delay) => delay ?? [])
      .reduce<Delay | null>((a, b) => (a === null || b.took > a.took ? b : a), null);
    if (!most) continue;
    const { file, first, to, took, channel } = most;
    const rank = ranksInComm(ranks[file]!, comm.commId)[0]!;
    const spell = { from: to - took, to, called: -Infinity };
    listOf(byNode, first).push({ ...spell, file, rank, basis: 'step', one, bound: 0 });
    if (channel !== null) channels.set(channel, (channels.get(channel) ?? 0) + most.waited);
  }
  return whole.length === 0 ? null : { byNode, nodes: nodes.length, channels, whole };
}

/** Times that are looked up. A longer run shows in its last part what the whole would. */
const MOST_CALLS = 400_000;

/** What the files of a node show of one collective. */
interface Through {
  plan: string;
  /** The longest wait for a GPU. */
  held: Passage['held'];
  /** Where the data wait, or come in, or the first sign was seen. */
  file: number;
  /** In a tree, of all its files: since when all could begin, the first sign of a GPU, and the newest data before that. */
  begins: Passage['begins'];
  noRoom: number;
  /** Each sum is of all its steps. */
  sends: number;
  sentSteps: number;
  sentAt: number;
  onWire: number;
  receivedSteps: number;
  receivedAt: number;
  files: number;
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

type ByNode = readonly { readonly first: number; readonly through: Through }[];

/** By place. */
function passedThrough(
  files: readonly number[],
  commId: bigint,
  placeOf: (call: CallNumber) => number | undefined,
  ranks: Case['ranks'],
): Through[] {
  const found: Through[] = [];
  for (const file of files) {
    for (const passage of ranks[file]!.calls.passages(commId)) {
      const { plan, held, noRoom, sends, sent, received, begins } = passage;
      const place = begins || plan.startsWith('RING') ? placeOf(passage) : undefined;
      if (place === undefined) continue;
      const own = (found[place] ??= newThrough(plan, file, files.length));
      if (begins) {
        const before = own.begins ?? begins;
        const isFirst = !Number.isNaN(begins.at) && !(before.at <= begins.at);
        if (isFirst) own.file = file;
        own.begins = { ...(isFirst ? begins : before), from: Math.max(before.from, begins.from) };
        continue;
      }
      if (own.receivedSteps === 0) own.file = file;
      if (held && !(own.held && lasting(own.held) >= lasting(held))) {
        own.held = held;
        own.file = file;
      }
      own.noRoom = Math.max(own.noRoom, noRoom);
      own.sends += sends;
      own.sentSteps += sent.steps;
      own.receivedSteps += received.steps;
      if (sent.steps > 0) own.sentAt += sent.steps * sent.at;
      if (sent.steps > 0) own.onWire += sent.steps * sent.onWire;
      if (received.steps > 0) own.receivedAt += received.steps * received.at;
    }
  }
  return found;
}

const newThrough = (plan: string, file: number, files: number): Through => ({
  plan,
  held: null,
  file,
  begins: null,
  noRoom: 0,
  sends: 0,
  sentSteps: 0,
  sentAt: 0,
  onWire: 0,
  receivedSteps: 0,
  receivedAt: 0,
  files,
});

/** The place of a call. By numbers first, because a large job asks millions of times: few calls have the same sum. */
function placesIn(whole: readonly Collective[]): (call: CallNumber) => number | undefined {
  const places = new Map<number, number[]>();
  const sumOf = ({ seq, ordinal }: CallNumber): number => seq + ordinal * 1_000_003;
  for (const [place, one] of whole.entries()) listOf(places, sumOf(one)).push(place);
  return (call) =>
    places.get(sumOf(call))?.find((place) => {
      const { func, seq, ordinal } = whole[place]!;
      return func === call.func && seq === call.seq && ordinal === call.ordinal;
    });
}

const lasting = ({ from, to }: NonNullable<Passage['held']>): number => to - from;

function longestHeld(nodes: ByNode): Delay | null {
  const held = nodes.flatMap(({ first, through }) => {
    const { held, noRoom, file } = through;
    if (!held || 2 * noRoom >= lasting(held)) return [];
    return [{ first, file, to: held.to, waited: lasting(held), channel: held.channel }];
  });
  const [most, second] = held.sort((a, b) => b.waited - a.waited);
  return most ? { ...most, took: most.waited - (second?.waited ?? 0) } : null;
}

/**
 * In a tree. A node that took data at once, when they had come long after its call, began at any time before. Nodes of more GPUs have more to
 * add up first.
 */
function lastToBegin(nodes: ByNode, clockBound: Case['clockBound']): Delay | null {
  const began = nodes
    .flatMap(({ first, through: { begins, file, files } }) => {
      if (!begins) return [];
      const { at, data, from } = begins;
      const waited = data > from ? data - from : 0;
      return from < at && waited < at - from - waited
        ? [{ first, file, files, at, from: from + waited }]
        : [];
    })
    .sort((a, b) => b.at - a.at);
  const [most, second] = began;
  if (!most || !second || began.some(({ files }) => files !== most.files)) return null;
  const { first, file, at, from } = most;
  const took = at - Math.max(from, second.at + clockBound(file, second.file, at as TraceNs));
  return took > 0 ? { first, file, to: at, took, waited: took, channel: null } : null;
}

/**
 * On a ring as many slices are under way at any time: each rank begins with those of its own chunk, and from then on passes on what it
 * gets. Where they queue, a GPU is slow. If they stay in one node for T longer than in another, each lap around the ring takes T longer, and
 * the others wait for that share of a lap. If as many queue as half fill a connection, they wait all the time. But a GPU that is a little
 * slower than the others has a long queue, too. So at most what the GPUs of the other node have not worked themselves is lost.
 */
function longestInside(nodes: ByNode, size: number, { lastArrival, end }: Collective): Delay | null {
  const { plan, files, sends, sentSteps } = nodes[0]!.through;
  const isComparable = nodes.every(
    ({ through: one }) =>
      one.plan === plan &&
      one.files === files &&
      one.sends === sends &&
      one.sentSteps === sentSteps &&
      one.receivedSteps === sentSteps,
  );
  if (!isComparable || sends === 0 || end === null) return null;
  const slices = plan.endsWith('SIMPLE') ? 2 : 1;
  const duration = end - lastArrival;
  const inside = nodes
    .flatMap(({ first, through }) => {
      const { sentAt, receivedAt, onWire, file } = through;
      // NCCL sends one slice after the other and does not look at the next before. So its GPU may have filled it long ago.
      const isWireBusy = onWire / sends / duration >= BUSY;
      // What it sends first and receives last does not pass through it.
      const own = files * slices * sends * duration;
      return isWireBusy ? [] : [{ first, file, stayed: sentAt - receivedAt + own }];
    })
    .sort((a, b) => b.stayed - a.stayed);
  const [most, second] = inside;
  // Alone it shows nothing: each node holds as many slices as it has work for.
  if (!most || !second) return null;
  const ofNext = second.stayed / sends;
  const queued = (most.stayed / sends - ofNext) / duration;
  const share = queued >= HALF_FULL / slices ? 1 : queued / (size * slices);
  const took = Math.min(share * duration, duration - ofNext / files);
  if (took <= 0) return null;
  return { first: most.first, file: most.file, to: end, took, waited: took, channel: null };
}

/** Half of the steps that a connection has room for. A slice of SIMPLE is two of them, and a chunk two slices; else all are one. */
const HALF_FULL = 4;
/** Slices on the wire of a connection, at a time. */
const BUSY = 0.5;
