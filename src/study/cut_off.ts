/**
 * Collectives that the file of a silent rank does not show to the end, although all other ranks finished them. What the rank had begun ends
 * with its file: drawn to the end of the run, it would look as if the rank were still in it. What it is not seen to begin it may well have
 * begun: the others could not have finished without it.
 */

import type { Ticks } from '../base/time.js';
import { traceTimeOf, type ClockSolution } from '../clocks/domains.js';
import { asCutOff, type ClusterComm, type Collective } from '../cluster/collective_view.js';
import type { WorkEndTable } from '../model/work_end_table.js';
import type { Run } from '../runs/run.js';
import { silentFiles } from '../verdict/facts/suspects.js';
import type { Verdict } from '../verdict/types.js';

interface Joined {
  readonly run: Run;
  readonly clocks: { readonly solution: ClockSolution };
  readonly comms: readonly ClusterComm[];
  readonly ends: readonly WorkEndTable[];
}

/** The same run, with this work as 'cut-off' in `ends`, and its files in `cutOff` of the collectives. */
export function withCutOff<T extends Joined>(joined: T, verdict: Verdict): T {
  const { run, clocks } = joined;
  const silent = silentFiles(verdict);
  /** Where the files of silent ranks end. */
  const ends = run.members.map(({ scan: { lastSign } }, file) =>
    silent[file] && lastSign !== null ? traceTimeOf(clocks.solution, file)(lastSign) : Infinity,
  );
  const rows = run.members.map(() => new Map<number, Ticks>());
  const cut = (comm: ClusterComm, one: Collective): Collective => {
    const { open, aborted, absent, end } = one;
    const isCut =
      end !== null &&
      aborted.length === 0 &&
      open.every((file) => silent[file]) &&
      absent.every((file) => ends[file]! < one.firstCalled);
    if (open.length + absent.length === 0 || !isCut) return one;
    for (const file of open) {
      const { lastSign, works, communicators, pending } = run.members[file]!.scan;
      const numbers = communicators
        .filter(({ commId }) => commId === comm.commId)
        .map(({ number }) => number);
      for (const { row, func, seq, ordinal } of pending.works) {
        const isOf = seq === one.seq && func === one.func && ordinal === one.ordinal;
        if (isOf && numbers.includes(works.comm[row]!) && lastSign !== null) rows[file]!.set(row, lastSign);
      }
    }
    return asCutOff(one);
  };
  if (!silent.includes(true)) return joined;
  const comms = joined.comms.map((comm) => ({
    ...comm,
    collectives: comm.collectives.map((one) => cut(comm, one)),
  }));
  return { ...joined, comms, ends: joined.ends.map((table, file) => ({ ...table, cutOff: rows[file]! })) };
}
