/**
 * Sends and receives, and which belong together: the n-th send from one rank to another and the n-th receive there. Dumps that lost their
 * oldest calls count from the last collective before, if all of them list one. What is left over is matched if it is pending on both sides;
 * the two sizes prove nothing there.
 */

import { maxOf } from '../base/extremes.js';
import { addTo } from '../base/grouped.js';
import { isPending } from './call_ends.js';
import type { DumpedCall } from './calls.js';
import { elementsIn } from './compared_calls.js';
import type { JoinedGroup, Member } from './joined_calls.js';

export interface Transfer {
  readonly group: JoinedGroup;
  readonly rank: number;
  readonly isSend: boolean;
  readonly peer: number;
  readonly call: DumpedCall;
  /** null: its rank lists none, or left no dump. */
  readonly other: DumpedCall | null;
  /** The two are known to belong together. */
  readonly isSure: boolean;
}

type Half = Pick<Transfer, 'rank' | 'isSend' | 'peer' | 'call'>;

/** Those that are pending. */
export function pendingTransfers(group: JoinedGroup): Transfer[] {
  if (!group.hasP2p) return [];
  const members = [...group.members.values()];
  const isWhole = members.every(({ dump }) => (dump.calls.numbers.record[0] ?? 0) === 0);
  const from = isWhole ? 0 : maxOf(members.map(firstCollective)) + 1;
  const halves = members.flatMap((member) => halvesOf(group, member));
  const counted = halves.filter(({ call }) => call.seq >= from);
  const matched = matchedBy(counted, ({ call }) => (isWhole ? '' : String(call.seq)));
  const open = halves.filter((half) => isPending(half.call) && !matched.has(half));
  const guessed = matchedBy(open, () => '');
  return halves.flatMap((half) => {
    if (!isPending(half.call)) return [];
    // Where numbers do not match them, a half that ended after this one was called may be the other one.
    const endedSince = (one: Half): boolean =>
      one.rank === half.peer &&
      one.peer === half.rank &&
      one.isSend !== half.isSend &&
      one.call.completedNs >= half.call.createdNs;
    const found = matched.get(half) ?? guessed.get(half) ?? (isWhole ? undefined : halves.find(endedSince));
    const other = found?.call ?? null;
    return [{ ...half, group, other, isSure: matched.has(half) }];
  });
}

/** Infinity: it lists no collective. */
function firstCollective({ dump: { calls }, rows }: Member): number {
  const row = rows.find((one) => !calls.kinds[one]!.isP2p);
  return row === undefined ? Infinity : calls.numbers.seq[row]!;
}

/** "send 0->3" and "recv 3<-0": the numbers are ranks in the group, its own first. */
const halvesOf = ({ ranks }: JoinedGroup, { dump, rows }: Member): Half[] =>
  rows.flatMap((row) => {
    const [, word, other] = /^(send|recv) \d+(?:->|<-)(\d+)$/.exec(dump.calls.kinds[row]!.op) ?? [];
    const peer = ranks[Number(other)];
    if (peer === undefined) return [];
    return [{ rank: dump.rank, isSend: word === 'send', peer, call: dump.calls.at(row)! }];
  });

/** The n-th of one side and the n-th of the other, per pair of ranks and section. */
function matchedBy(halves: readonly Half[], sectionOf: (half: Half) => string): Map<Half, Half> {
  const sides = new Map<string, Half[]>();
  const key = (half: Half, isSend: boolean): string =>
    [isSend, ...(half.isSend ? [half.rank, half.peer] : [half.peer, half.rank]), sectionOf(half)].join(' ');
  for (const half of halves) addTo(sides, key(half, half.isSend), half);
  const found = new Map<Half, Half>();
  for (const side of sides.values())
    for (const [i, half] of side.entries()) {
      const other = sides.get(key(half, !half.isSend))?.[i];
      if (other) found.set(half, other);
    }
  return found;
}

/** The size of the tensor that is sent, or of the one that receives. The bytes must agree, the types need not. */
export function sizeOf(
  { inputs, outputs, dtypes: [dtype = ''] }: DumpedCall,
  isSend: boolean,
): { elements: number; dtype: string; bytes: number } {
  const elements = elementsIn(isSend || outputs.length === 0 ? inputs : outputs);
  return { elements, dtype, bytes: elements * (WIDTHS.get(dtype) ?? 1) };
}

/** Bytes of an element. PyTorch's other types have one. */
const WIDTHS: ReadonlyMap<string, number> = new Map([
  ...(['Short', 'Half', 'BFloat16'] as const).map((name) => [name, 2] as const),
  ...(['Int', 'Float'] as const).map((name) => [name, 4] as const),
  ...(['Long', 'Double', 'ComplexFloat'] as const).map((name) => [name, 8] as const),
]);
