/** Python stacks of many ranks: mostly all are the same, so each is kept once, with its ranks. */

import { entryOf } from '../base/grouped.js';
import type { DumpedCall, Frame } from './calls.js';

export interface SharedStack {
  readonly ranks: readonly number[];
  /** The innermost first. */
  readonly frames: readonly Frame[];
}

export const frameText = ({ name, file, line }: Frame): string => `${name} (${file}:${line})`;

/** Most ranks first. Calls without a stack are left out. */
export function stacksOf(
  callers: readonly { readonly rank: number; readonly call: DumpedCall }[],
): SharedStack[] {
  const stacks = new Map<string, { readonly ranks: number[]; readonly frames: readonly Frame[] }>();
  for (const { rank, call } of callers) {
    if (call.frames.length === 0) continue;
    const key = call.frames.map(frameText).join('\n');
    entryOf(stacks, key, () => ({ ranks: [], frames: call.frames })).ranks.push(rank);
  }
  return [...stacks.values()].sort((a, b) => b.ranks.length - a.ranks.length);
}
