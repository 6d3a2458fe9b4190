/**
 * An answer of RAS beside our verdict on the same job: who called what, by both, and what only one of them knows. RAS sees all nodes and
 * processes that are gone, and has no past, no steps and no captured graphs. RAS' count of a function is our seq + 1.
 */

import { foldRanks } from '../base/ranks.js';
import type { RasAnswer, RasCommunicator } from './ras_answer.js';

export interface OurCommunicator {
  /** "0x" and 16 hexadecimal digits. */
  readonly commId: string;
  readonly comm: string;
  /** Ranks of the job with a file, ascending. */
  readonly ranks: readonly number[];
  /** Rank of the job by rank in the communicator; absent: the i-th of `ranks`. */
  readonly inComm?: Readonly<Record<number, number>> | undefined;
}

/** What our verdict says of a stall. */
export interface OurStall {
  readonly commId: string | null;
  readonly func: string;
  readonly seq: number | null;
  readonly replay: number;
  /** Ranks of the job. */
  readonly neverEntered: readonly number[];
}

export interface RasReport {
  readonly version: string;
  readonly at: string;
  /** Whole sentences; those of the stall first. */
  readonly says: readonly string[];
}

export function besideRas(
  answer: RasAnswer,
  ours: readonly OurCommunicator[],
  stall: OurStall | null,
): RasReport {
  const known = new Map(ours.map((one) => [BigInt(one.commId), one]));
  const joined = answer.communicators.map((ras) => ({ ras, our: known.get(ras.hash) ?? null }));
  const stuck = stall?.commId ? BigInt(stall.commId) : null;
  // That of the stall first.
  const sorted = joined.sort((a, b) => Number(b.ras.hash === stuck) - Number(a.ras.hash === stuck));
  const strangers = joined.filter(({ our }) => our === null);
  const says = [
    ...sorted.flatMap((one) => [
      ...countSentences(one, one.ras.hash === stuck ? stall : null),
      ...stateSentences(one),
    ]),
    ...(joined.length > 0 && strangers.length === joined.length
      ? ['no communicator of RAS is in these rank files: it is another job']
      : strangers.length > 0
        ? [`${strangers.length} communicators of RAS are in none of these rank files`]
        : []),
  ];
  const ranks = answer.communicators.reduce((most, { nRanks }) => Math.max(most, nRanks), 0);
  const fine = `${joined.length} communicators of up to ${ranks} ranks: all answer, with equal counts`;
  return {
    version: answer.version,
    at: answer.at,
    says: says.length > 0 ? says : [fine],
  };
}

interface Joined {
  readonly ras: RasCommunicator;
  readonly our: OurCommunicator | null;
}

const nameOf = ({ ras, our }: Joined): string =>
  our === null || our.comm === '' ? `communicator 0x${ras.hash.toString(16)}` : our.comm;

const jobRank = (rank: number, { our }: Joined): number | undefined =>
  our?.inComm ? our.inComm[rank] : our?.ranks[rank];

const hasFile = (rank: number, one: Joined): boolean => jobRank(rank, one) !== undefined;

/** Ranks of the job; of the communicator, where there is no file that says which. */
function ranksText(ranks: readonly { readonly rank: number }[], one: Joined): string {
  const job = ranks.map(({ rank }) => jobRank(rank, one) ?? rank);
  return job.length === 1 ? `rank ${job[0]}` : `ranks ${foldRanks(job.sort((a, b) => a - b))}`;
}

/** Per function of a communicator: who has called less than others, and what our records say of it. */
function countSentences(one: Joined, stall: OurStall | null): string[] {
  const { ranks } = one.ras;
  const functions = [...new Set(ranks.flatMap(({ counts }) => Object.keys(counts)))];
  const uneven = functions.flatMap((func) => {
    const countOf = ({ counts }: (typeof ranks)[number]): number => counts[func] ?? 0;
    const most = ranks.reduce((so, rank) => Math.max(so, countOf(rank)), 0);
    const behind = ranks.filter((rank) => countOf(rank) < most);
    if (behind.length === 0) return [];
    const counts = [...new Set(behind.map(countOf))].sort((a, b) => a - b).join(', ');
    const often = counts === '1' ? 'once' : `${counts} times`;
    const times = `${often} on ${nameOf(one)}, others up to ${most} times`;
    const text = `${ranksText(behind, one)} called ${func} ${times}`;
    if (stall?.func !== func || stall.seq === null) return [text];
    return [`${text}${agreement(one, stall, behind)}`];
  });
  if (stall?.seq === undefined || stall.seq === null || uneven.length > 0) return uneven;
  return [
    `all ${ranks.length} ranks that answer have called ${stall.func} on ${nameOf(one)} equally often${onlyOurs(stall)}`,
  ];
}

function agreement(one: Joined, stall: OurStall, behind: RasCommunicator['ranks']): string {
  if (stall.replay > 0)
    return `; it does not count the ${stall.replay} replays of captured graphs, which only our records have`;
  const missing = behind.filter(({ counts }) => (counts[stall.func] ?? 0) <= stall.seq!);
  const same =
    ranksText(missing, one) ===
    ranksText(
      stall.neverEntered.map((rank) => ({ rank })),
      noNames,
    );
  if (same) return `, so by RAS, too, it never entered seq ${stall.seq}${onlyOurs(stall)}`;
  if (missing.length === 0) return `, so by RAS all have entered seq ${stall.seq} since then`;
  const hasNoFile = missing.every(({ rank }) => !hasFile(rank, one));
  const why = hasNoFile ? ', of which there is no file here' : '; our records are of another moment';
  return `, so by RAS ${ranksText(missing, one)} never entered seq ${stall.seq}${why}`;
}

const noNames: Joined = { ras: { hash: 0n, nRanks: 0, ranks: [], missing: [] }, our: null };

const onlyOurs = (stall: OurStall): string =>
  stall.replay > 0
    ? '; it does not count captured graphs'
    : '; since when, and at which step, only our records say';

/** Who is gone or in error, and who has no file here. */
function stateSentences(one: Joined): string[] {
  const { nRanks, ranks, missing } = one.ras;
  const unsaid = nRanks - ranks.length - missing.length;
  const withError = ranks.filter(({ asyncError }) => asyncError > 0);
  const errors = [...new Set(withError.map(({ asyncError }) => asyncError))].join(', ');
  const where = missing.slice(0, 3).map(({ pid, host }) => `pid ${pid} on ${host}`);
  const dead = missing.filter(({ isDead }) => isDead).length;
  const elsewhere = one.our === null ? [] : ranks.filter(({ rank }) => !hasFile(rank, one));
  return [
    ...(missing.length > 0
      ? [
          `${ranksText(missing, one)} of ${nameOf(one)} ${missing.length === 1 ? 'does' : 'do'} not answer (${where.join(', ')}${dead > 0 ? `; ${dead} considered dead` : ''})`,
        ]
      : []),
    ...(unsaid > 0 ? [`RAS says nothing of ${unsaid} of the ${nRanks} ranks of ${nameOf(one)}`] : []),
    ...(withError.length > 0
      ? [
          `${ranksText(withError, one)} of ${nameOf(one)} ${withError.length === 1 ? 'reports' : 'report'} asynchronous error ${errors} (ncclResult_t)`,
        ]
      : []),
    ...(elsewhere.length > 0
      ? [
          `${ranksText(elsewhere, one)} of ${nameOf(one)} ${elsewhere.length === 1 ? 'answers and has' : 'answer and have'} no file here`,
        ]
      : []),
  ];
}
