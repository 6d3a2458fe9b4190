/**
 * Changes of the recording in mid-run (`nccl-trace control`): when, and what may be missing because of them. Rank files keep each change in
 * a table. The header repeats the newest one; older files have only the header.
 */

import type { Ticks } from '../base/time.js';
import { EventType } from '../rankfile/format/nccl.js';
import type { Communicator, FileFacts } from '../rankfile/file_types.js';

type Source = Pick<FileFacts, 'header' | 'changes'>;

export interface Change {
  /** Up to this tick everything was recorded as before. */
  readonly tick: Ticks;
  /** The change holds from here on; null: only the header has it, perhaps before it took effect. */
  readonly done: Ticks | null;
  readonly events: number;
  readonly sampleEvery: number;
  /** Number of lost changes right before this one; null: not known. */
  readonly lostBefore: number | null;
}

/** In order. */
export function controlChanges({ header, changes }: Source): Change[] {
  const recorded = changes.map(({ number, tick, done, events, sampleEvery }, i): Change => {
    const before = changes[i - 1]?.number ?? -1;
    return { tick, done, events, sampleEvery, lostBefore: number - before - 1 };
  });
  const { changedTick, maskNow, sampleNow } = header;
  if (changedTick === null || changes.some(({ tick }) => tick >= changedTick)) return recorded;
  const newest = { tick: changedTick, done: null, events: maskNow, sampleEvery: sampleNow, lostBefore: null };
  return [...recorded, newest];
}

/** What was not recorded for some time and may be missing. */
export interface EverMuted {
  /** NCCL event-type bits, among those requested at init. */
  readonly events: number;
  /** The sampling of collectives changed after the start. */
  readonly sampling: boolean;
}

export const isEverMuted = (source: Source): boolean => {
  const { events, sampling } = everMuted(source);
  return events !== 0 || sampling;
};

/** If a change is missing from the file, everything may have been muted. */
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
/** Before v5 NCCL reports no calls. There these events are the evidence of calls. */
const WORKS = EventType.Coll | EventType.P2p;
/** NCCL reports calls from this version of the interface on. */
const FIRST_ABI_OF_CALLS = 5;

/**
 * Spans in which fewer calls were recorded than at the start. A call that is missing there proves nothing. Ascending; the last span has no
 * end if it still lasts.
 */
export function spansWithoutCalls(
  source: Source,
  communicators: Iterable<Pick<Communicator, 'abi'>>,
): Span[] {
  const { eventMask, sampleEvery, hasChanged, changedTick } = source.header;
  if (hasChanged && changedTick === null) return [{ from: 0, end: Infinity }];
  const areReported =
    (eventMask & EventType.CollApi) !== 0 && [...communicators].every(({ abi }) => abi >= FIRST_ABI_OF_CALLS);
  const isLess = ({ events, sampleEvery: every }: Change): boolean =>
    (eventMask & ~events & (areReported ? CALLS : WORKS)) !== 0 || (!areReported && every !== sampleEvery);
  return controlChanges(source).flatMap((change, i, changes): Span[] => {
    const [before, next] = [changes[i - 1], changes[i + 1]];
    const unknown = { from: before?.tick ?? 0, end: change.done ?? change.tick };
    const less = { from: change.tick, end: next ? (next.done ?? next.tick) : Infinity };
    return [...(change.lostBefore === 0 ? [] : [unknown]), ...(isLess(change) ? [less] : [])];
  });
}
