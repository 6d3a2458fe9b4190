/** Whether a verdict was right. */

import type { Truth } from './case.js';
import type { Naming } from './naming.js';

/**
 * `right`: the first ranks it names are culprits, and only those. `too wide`: a culprit is among at most 3 named ranks. `open`: it says
 * that it does not know, or names a late rank and says why that is not slow. `missed`: it says that all is well, or names no rank.
 * `wrong`: it names others. For healthy runs: `alarm`: it names a fault. `true`: it names a slow rank which the machine held up, by the
 * ranks' own account, or that a job which gave up broke off. `doubt`: it says that something may be wrong.
 */
export type Outcome =
  'right' | 'too wide' | 'open' | 'missed' | 'wrong' | 'quiet' | 'true' | 'doubt' | 'alarm';

export const FAULTY_OUTCOMES = ['right', 'too wide', 'open', 'missed', 'wrong'] as const;
export const HEALTHY_OUTCOMES = ['quiet', 'true', 'doubt', 'alarm'] as const;

const ALARMS = ['hung', 'broken', 'slow', 'mismatch', 'chosen otherwise'];
const MOST = 3;

/** Asked of a rank that is called slow, of its communicator, and from which collective on it was seen. */
type IsTrulySlow = (rank: number, commId: string, firstSeq: number) => boolean;

export function judge(truth: Truth | null, naming: Naming, isTrulySlow: IsTrulySlow): Outcome {
  return truth === null ? ofHealthy(naming, isTrulySlow) : ofFaulty(truth, naming);
}

function ofHealthy({ kind, groups, comm, firstSeq }: Naming, isTrulySlow: IsTrulySlow): Outcome {
  const named = groups[0]?.[0];
  if (kind === 'slow' && comm !== null && named !== undefined && isTrulySlow(named, comm, firstSeq))
    return 'true';
  if (ALARMS.includes(kind)) return 'alarm';
  return kind === 'unclear' || kind === 'none' ? 'doubt' : 'quiet';
}

function ofFaulty(truth: Truth, naming: Naming): Outcome {
  const { culprits, beside, kinds, needsName, on, bug } = truth;
  if (bug !== undefined && !naming.bugs.includes(bug)) return 'missed';
  const { kind, groups } = naming;
  if (!kinds.includes(kind)) {
    const saysWhoWasLate = naming.late !== null && culprits.includes(naming.late);
    if (kind === 'unclear' || (kind === 'healthy' && kinds.includes('slow') && saysWhoWasLate)) return 'open';
    return ALARMS.includes(kind) && !groups.flat().some((rank) => culprits.includes(rank))
      ? 'wrong'
      : 'missed';
  }
  const first = groups[0];
  if (first === undefined && needsName === false) return 'right';
  if (first === undefined)
    return kind === 'hung' || kind === 'waiting' || kind === 'unclear' ? 'open' : 'missed';
  const isHarmless = (rank: number): boolean => culprits.includes(rank) || beside.includes(rank);
  if (first.some((rank) => culprits.includes(rank)) && first.every(isHarmless)) {
    // The host of a slow GPU is looked at in vain.
    return on !== undefined && naming.on !== on ? 'too wide' : 'right';
  }
  const named = new Set(groups.flat());
  if (named.size <= MOST && culprits.some((rank) => named.has(rank))) return 'too wide';
  if (kind === 'unclear') return 'open';
  return culprits.some((rank) => named.has(rank)) ? 'missed' : 'wrong';
}
