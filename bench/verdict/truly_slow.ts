/**
 * Whether a rank was late by the ranks' own account, so that a healthy job's SLOW is no false alarm: a busy machine really holds up
 * ranks. The recording has no part in it. Late by its calls, or by the beginning of its kernels, at a cost far above the others' and
 * above what chance gives equal ranks.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskTruth } from '../../test/support/jobs/truth.js';
import { Draw } from './draw.js';

/** Times what the others cost in the mean. */
const ABOVE_OTHERS = 3;
/** So many times the waits are dealt to the ranks at random; fewer than this share may give one rank as much. */
const DEALS = 2000;
const BY_CHANCE = 0.005;

/** What all others waited for one rank alone, ns. */
interface Wait {
  readonly rank: number;
  readonly ns: number;
}

interface Seen {
  readonly rank: number;
  readonly calledNs: number;
  readonly begunNs: number | null;
}

/** `firstSeq`: of the first collective that counts. */
export function isTrulySlow(truth: string, rank: number, commId: string, firstSeq = 0): boolean {
  const seen = collectivesIn(truth, BigInt(commId), firstSeq);
  const ranks = new Set(seen.flatMap((all) => all.map((one) => one.rank))).size;
  return (
    isLate(
      rank,
      ranks,
      seen.flatMap((all) => waitFor(all, ({ calledNs }) => calledNs)),
    ) ||
    isLate(
      rank,
      ranks,
      seen.flatMap((all) => waitFor(all, ({ begunNs }) => begunNs)),
    )
  );
}

function isLate(rank: number, ranks: number, waits: readonly Wait[]): boolean {
  if (ranks < 2) return false;
  const own = sum(waits.filter((wait) => wait.rank === rank));
  const others = (sum(waits) - own) / (ranks - 1);
  if (own <= ABOVE_OTHERS * others) return false;
  const draw = new Draw('deal', rank, waits.length);
  let asMuch = 0;
  for (let deal = 0; deal < DEALS; deal++) {
    const hands = new Float64Array(ranks);
    for (const { ns } of waits) hands[draw.between(0, ranks - 1)]! += ns;
    if (Math.max(...hands) >= own) asMuch++;
  }
  return asMuch < BY_CHANCE * DEALS;
}

const sum = (waits: readonly Wait[]): number => waits.reduce((total, { ns }) => total + ns, 0);

function waitFor(all: readonly Seen[], timeOf: (one: Seen) => number | null): Wait[] {
  const came = all.flatMap((one) => {
    const at = timeOf(one);
    return at === null ? [] : [{ rank: one.rank, at }];
  });
  const [last, second] = came.sort((a, b) => b.at - a.at);
  return last && second ? [{ rank: last.rank, ns: last.at - second.at }] : [];
}

/** By collective. */
function collectivesIn(truth: string, commId: bigint, firstSeq: number): Seen[][] {
  const byKey = new Map<string, Seen[]>();
  for (const name of readdirSync(truth).filter((file) => file.endsWith('.jsonl'))) {
    const rank = Number(/\d+/.exec(name)?.[0]);
    for (const line of readFileSync(join(truth, name), 'utf8').split('\n')) {
      // The last line of a rank that was killed may be half of one.
      if (!line.startsWith('{"kind":"coll"') || !line.endsWith('}')) continue;
      const { comm, func, seq, graph, replay, startNs, begunNs } = JSON.parse(line) as TaskTruth & {
        replay?: number;
      };
      if (graph === 'captured' || BigInt(comm) !== commId || (seq ?? firstSeq) < firstSeq) continue;
      const key = `${func} ${seq} ${replay ?? 0}`;
      byKey.set(key, [...(byKey.get(key) ?? []), { rank, calledNs: startNs, begunNs }]);
    }
  }
  return [...byKey.values()];
}
