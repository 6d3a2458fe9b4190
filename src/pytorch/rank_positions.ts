/** Where the ranks of a process group are, relative to one of its collectives: inside it, after it, or before it. It judges nothing. */

import type { DumpedCall } from './dump.js';
import { functionOf } from './compared_calls.js';
import { hasFinished, type JoinedGroup } from './joined_calls.js';

export interface NamedCollective {
  readonly group: string;
  readonly description: string;
  /** Ranks of the job in it. */
  readonly ranks: readonly number[];
  /** PyTorch's number of it in the group. */
  readonly seq: number;
  readonly op: string;
}

/** Ranks with a dump. */
export interface Places {
  /** These ranks called it and have not finished. */
  readonly waiting: readonly number[];
  /** Those of them whose GPU has begun. */
  readonly started: readonly number[];
  readonly finished: readonly number[];
  /** These ranks have not reached it. */
  readonly behind: readonly number[];
  /** These ranks do not list it. They may have finished it, or never called it. */
  readonly notListed: readonly number[];
}

export const nameOf = (
  { name, description, ranks }: JoinedGroup,
  seq: number,
  call: DumpedCall,
): NamedCollective => ({
  group: name,
  description,
  ranks,
  seq,
  op: call.isP2p ? call.op : functionOf(call),
});

/** The earliest call among the ranks that wait in the collective. */
export const firstCall = (group: JoinedGroup, seq: number, waiting: readonly number[]): DumpedCall =>
  waiting
    .map((rank) => group.collectives.get(seq)!.get(rank)!.calls[0]!)
    .reduce((first, one) => (one.createdNs < first.createdNs ? one : first));

const known = new WeakMap<JoinedGroup, Map<number, Places>>();

/** Worked out once: many ranks wait at one place. */
export function placesAt(group: JoinedGroup, seq: number): Places {
  const ofGroup = known.get(group) ?? new Map<number, Places>();
  known.set(group, ofGroup);
  const places = ofGroup.get(seq) ?? newPlaces(group, seq);
  ofGroup.set(seq, places);
  return places;
}

function newPlaces(group: JoinedGroup, seq: number): Places {
  const places = { waiting: [], started: [], finished: [], behind: [], notListed: [] } as {
    [place in keyof Places]: number[];
  };
  for (const { rank } of group.dumps) {
    const own = group.collectives.get(seq)?.get(rank);
    if (hasFinished(group, rank, seq)) places.finished.push(rank);
    else if (isBehind(group, rank, seq)) places.behind.push(rank);
    else if (!own) places.notListed.push(rank);
    else {
      places.waiting.push(rank);
      if (own.calls.some(({ state }) => state !== 'scheduled')) places.started.push(rank);
    }
  }
  return places;
}

/** It is still in an earlier collective of the group, or never called this one. */
export function isBehind(group: JoinedGroup, rank: number, seq: number): boolean {
  const pending = group.firstPending.get(rank);
  if (pending !== undefined) return pending < seq;
  const called = group.lastListed.get(rank) ?? group.maybeCalledTo.get(rank) ?? -1;
  return called < seq && !mayFinishAlone(group, seq);
}

/** A root may leave these functions before the others come. So a rank that does not list one may have finished it. */
const mayFinishAlone = (group: JoinedGroup, seq: number): boolean =>
  [...(group.collectives.get(seq)?.values() ?? [])].some(({ calls }) => calls.some(isOneSided));

export const isOneSided = (call: DumpedCall): boolean =>
  ['broadcast', 'reduce', 'gather', 'scatter'].includes(functionOf(call));
