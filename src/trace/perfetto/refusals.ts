/** Why the kernel refuses an event (src/kernel/draw/refused.ts), in words for a bug report. */

import { BugError } from '../../base/assert.js';

const KINDS = ['group', 'slices', 'state', 'counter'];

/** By reason. */
const TEXTS: readonly ((number: number, other: number) => string)[] = [
  (depth) => `is ${depth} tracks deep`,
  (event, track) => `an event of a ${KINDS[event]} track on a ${KINDS[track]} track`,
  () => 'not a time of this trace',
  (last) => `earlier than the track's last event at ${last}`,
  (most) => `more than ${most} slices deep`,
  (slice, innermost) =>
    `ends slice ${slice}, the innermost open one is ${innermost < 0 ? 'none' : innermost}`,
  (value) => `cannot count ${value}`,
  (value) => `argument that loses digits: ${value}`,
  () => 'a step within a step, or a phase or an end outside of one',
];

export const refusal = (reason: number, track: string, at: number, number: number, other: number): BugError =>
  new BugError(`track "${track}" at ${at} ns: ${TEXTS[reason]!(number, other)}`);
