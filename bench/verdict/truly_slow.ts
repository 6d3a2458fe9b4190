/**
 * Whether a rank was late by the ranks' own account, so that a healthy job's SLOW is no false alarm: a busy machine really holds up
 * ranks. The recording has no part in it. Late more often than chance would have it, and at a cost far above the others'.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskTruth } from '../../test/support/truth.js';

/** Standard errors above what chance gives a rank, and times what the others cost in the mean. */
const BEYOND_CHANCE = 4;
const ABOVE_OTHERS = 3;

interface Lateness {
  last: number;
  cost: number;
}

export function isTrulySlow(truth: string, rank: number, commId: string): boolean {
  const { byRank, collectives } = latenessIn(truth, commId);
  const own = byRank.get(rank);
  if (own === undefined || byRank.size < 2) return false;
  const share = 1 / byRank.size;
  const spread = Math.sqrt(collectives * share * (1 - share));
  const others = [...byRank].filter(([other]) => other !== rank).map(([, { cost }]) => cost);
  const mean = others.reduce((sum, cost) => sum + cost, 0) / others.length;
  return own.last > collectives * share + BEYOND_CHANCE * spread && own.cost > ABOVE_OTHERS * mean;
}

/** Of each rank: in how many collectives it called last, and what the others waited for it alone, ns. */
function latenessIn(truth: string, commId: string): { byRank: Map<number, Lateness>; collectives: number } {
  const calls = new Map<string, { rank: number; at: number }[]>();
  const byRank = new Map<number, Lateness>();
  for (const name of readdirSync(truth).filter((file) => file.endsWith('.jsonl'))) {
    const rank = Number(/\d+/.exec(name)?.[0]);
    for (const { key, at } of callsOf(join(truth, name), BigInt(commId))) {
      byRank.set(rank, { last: 0, cost: 0 });
      calls.set(key, [...(calls.get(key) ?? []), { rank, at }]);
    }
  }
  for (const one of calls.values()) {
    const [last, second] = one.sort((a, b) => b.at - a.at);
    const lateness = last && byRank.get(last.rank);
    if (!last || !second || !lateness) continue;
    lateness.last++;
    lateness.cost += last.at - second.at;
  }
  return { byRank, collectives: calls.size };
}

function callsOf(file: string, commId: bigint): { key: string; at: number }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => {
    // The last line of a rank that was killed may be half of one.
    if (!line.startsWith('{"kind":"coll"') || !line.endsWith('}')) return [];
    const { comm, func, seq, graph, replay, startNs } = JSON.parse(line) as TaskTruth & { replay?: number };
    if (graph === 'captured' || BigInt(comm) !== commId) return [];
    return [{ key: `${func} ${seq} ${replay ?? 0}`, at: startNs }];
  });
}
