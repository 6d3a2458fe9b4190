/**
 * What was told to be recorded otherwise in mid-run (`nccl-trace control`): when, and what may be missing therefore. Rank
 * files keep each change in a table; the header tells the newest one again, and in older files alone.
 */

import type { Ticks } from '../base/time.js';
import { EventType } from '../rankfile/format/nccl.js';
import type { Communicator, FileFacts } from '../rankfile/types.js';

type Source = Pick<FileFacts, 'header' | 'changes'>;

export interface Change {
  /** Until then everything was recorded as before. */
  readonly tick: Ticks;
  /** From then on as said here; null: the header alone tells of it, which may be before it was done. */
  readonly done: Ticks | null;
  readonly events: number;
  readonly sampleEvery: number;
  /** So many changes right before it are not in the file; null: nobody knows how many. */
  readonly lostBefore: number | null;
}

/** In order. */
export function controlChanges({ header, changes }: Source): Change[] {
  const told = changes.map(({ number, tick, done, events, sampleEvery }, i): Change => {
    const before = changes[i - 1]?.number ?? -1;
    return { tick, done, events, sampleEvery, lostBefore: number - before - 1 };
  });
  const { changedTick, maskNow, sampleNow } = header;
  if (changedTick === null || changes.some(({ tick }) => tick >= changedTick)) return told;
  const newest = { tick: changedTick, done: null, events: maskNow, sampleEvery: sampleNow, lostBefore: null };
  return [...told, newest];
}

/** What was not recorded at some time, and may be missing now. */
export interface EverMuted {
  /** NCCL event-type bits, of those asked for at init. */
  readonly events: number;
  /** Collectives were sampled otherwise than from the start. */
  readonly sampling: boolean;
}

export const isEverMuted = (source: Source): boolean => {
  const { events, sampling } = everMuted(source);
  return events !== 0 || sampling;
};

/** Where not every change is known, all there was may have been muted. */
export function everMuted(source: Source): EverMuted {
  const { eventMask, sampleEvery, hasChanged, changedTick } = source.header;
  const changes = controlChanges(source);
  const isKnown =
    changes.every(({ lostBefore }) => lostBefore === 0) && (changedTick !== null || !hasChanged);
  if (!isKnown) return { events: eventMask, sampling: true };
  return {
    events: changes.reduce((muted, { events }) => muted | (eventMask & ~events), 0),
    sampling: changes.some((change) => change.sampleEvery !== sampleEvery),
  };
}

/** [from, end), ticks. */
export interface Span {
  readonly from: number;
  readonly end: number;
}

const CALLS = EventType.CollApi | EventType.P2pApi;
/** What tells of calls where NCCL does not: of those that are sampled. */
const WORKS = EventType.Coll | EventType.P2p;
/** NCCL tells of calls from this version of the interface on. */
const FIRST_ABI_OF_CALLS = 5;

/**
 * When not every call was recorded that would have been from the start: that nothing is recorded of such a time says nothing.
 * Ascending; without an end if it is so still.
 */
export function spansWithoutCalls(
  source: Source,
  communicators: Iterable<Pick<Communicator, 'abi'>>,
): Span[] {
  const { eventMask, sampleEvery, hasChanged, changedTick } = source.header;
  if (hasChanged && changedTick === null) return [{ from: 0, end: Infinity }];
  const areTold =
    (eventMask & EventType.CollApi) !== 0 && [...communicators].every(({ abi }) => abi >= FIRST_ABI_OF_CALLS);
  const isLess = ({ events, sampleEvery: every }: Change): boolean =>
    (eventMask & ~events & (areTold ? CALLS : WORKS)) !== 0 || (!areTold && every !== sampleEvery);
  return controlChanges(source).flatMap((change, i, changes): Span[] => {
    const [before, next] = [changes[i - 1], changes[i + 1]];
    const unknown = { from: before?.tick ?? 0, end: change.done ?? change.tick };
    const less = { from: change.tick, end: next ? (next.done ?? next.tick) : Infinity };
    return [...(change.lostBefore === 0 ? [] : [unknown]), ...(isLess(change) ? [less] : [])];
  });
}
