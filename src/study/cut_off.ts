/**
 * What a silent rank had not finished when its file ended, although all other ranks finished it. Its end is not recorded, so it ends with the
 * file: drawn to the end of the run, it would look as if the rank were still in it.
 */

import { numberAt } from '../base/packed_numbers.js';
import type { Ticks } from '../base/time.js';
import { asCutOff } from '../cluster/collective_view.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import { silentFiles } from '../verdict/evidence/suspects.js';
import type { Verdict } from '../verdict/types.js';
import type { JoinedRun } from './study.js';

/** The same run, with this work as 'cut-off' in `ends`, and its files in `cutOff` of the collectives. */
export function withCutOff(joined: JoinedRun, verdict: Verdict): JoinedRun {
  const { run, ends } = joined;
  const silent = silentFiles(verdict);
  const rows = run.members.map(() => new Map<number, Ticks>());
  const cut = (comm: ClusterComm, one: Collective): Collective => {
    const { open, aborted, absent, end } = one;
    const isCut = end !== null && aborted.length + absent.length === 0 && open.every((file) => silent[file]);
    if (open.length === 0 || !isCut) return one;
    for (const file of open) {
      const { lastSign, works, communicators, pending } = run.members[file]!.scan;
      const numbers = communicators
        .filter(({ commId }) => commId === comm.commId)
        .map(({ number }) => number);
      for (const { row, func, seq, ordinal } of pending.works) {
        const isOf = seq === one.seq && func === one.func && ordinal === one.ordinal;
        if (isOf && numbers.includes(numberAt(works.comm, row)) && lastSign !== null)
          rows[file]!.set(row, lastSign);
      }
    }
    return asCutOff(one);
  };
  if (!silent.includes(true)) return joined;
  const comms = joined.comms.map((comm) => ({
    ...comm,
    collectives: comm.collectives.map((one) => cut(comm, one)),
  }));
  return { ...joined, comms, ends: ends.map((table, file) => ({ ...table, cutOff: rows[file]! })) };
}
