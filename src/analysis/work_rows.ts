/** What each rank called, as NCCL reported it to this rank: one row per collective, send or receive and rank. A long run has millions. */

import { hex64 } from '../base/hex.js';
import { collectiveSize, ELEMENT_BYTES } from '../cluster/bandwidth.js';
import { clusterMembers } from '../cluster/join_run.js';
import { overAt } from '../cluster/work_end_times.js';
import { outcomeAt } from '../model/work_end_table.js';
import type { Study } from '../study/study.js';
import { rankLabels, type RankLabel } from '../runs/rank_labels.js';

export interface WorkTableRow {
  readonly rank: RankLabel;
  /** Number in its file, in order of start. */
  readonly work: number;
  readonly comm: string | null;
  readonly commId: string | null;
  readonly func: string;
  /** null: a send or receive. */
  readonly seq: number | null;
  readonly peer: RankLabel;
  readonly root: number | null;
  readonly datatype: string;
  readonly count: number | null;
  readonly bytes: number | null;
  readonly plan: string;
  readonly channels: number | null;
  /** ns of the trace. */
  readonly callNs: number | null;
  readonly enqueuedNs: number | null;
  /** null: it has not ended, or its end is not known. */
  readonly endNs: number | null;
  readonly outcome: string;
}

/** By rank, and in order of start. */
export function* workRows({
  run,
  clocks,
  ends,
  gpuLines,
}: Pick<Study, 'run' | 'clocks' | 'ends' | 'gpuLines'>): Generator<WorkTableRow> {
  const labels = rankLabels(run);
  for (const [file, member] of clusterMembers(run, clocks.solution, ends, gpuLines).entries()) {
    const { works, communicators, time } = member;
    const comms = new Map(communicators.map((comm) => [comm.number, comm]));
    const at = (tick: number): number | null => (Number.isNaN(tick) ? null : Math.round(time(tick)));
    for (let row = 0; row < works.seq.length; row++) {
      const comm = comms.get(works.comm[row]!);
      const isColl = works.seq[row]! >= 0;
      const func = works.funcs[works.func[row]!]!;
      const datatype = works.datatypes[works.datatype[row]!]!;
      const count = known(works.count[row]!);
      const outcome = outcomeAt(ends[file]!, row);
      const over = outcome === 'open' ? NaN : overAt(member, row);
      yield {
        rank: comm ? labels.inComm(comm.commId, comm.rank, file) : labels.ofFile(file),
        work: row,
        comm: comm?.name ?? null,
        commId: comm ? hex64(comm.commId) : null,
        ...{ func, datatype, count, outcome },
        seq: isColl ? works.seq[row]! : null,
        peer: isColl || !comm ? null : labels.inComm(comm.commId, works.peer[row]!, null),
        root: works.root[row]! >= 0 ? works.root[row]! : null,
        bytes: isColl
          ? (collectiveSize(func, datatype, count ?? NaN, comm?.nRanks ?? 0)?.bytes ?? null)
          : sizeOf(count, datatype),
        plan: works.plans[works.plan[row]!]!,
        channels: works.channels[row]! > 0 ? works.channels[row]! : null,
        callNs: at(works.arrival[row]!),
        enqueuedNs: at(works.enqueued[row]!),
        endNs: Number.isNaN(over) ? null : Math.round(over),
      };
    }
  }
}

const known = (number: number): number | null => (Number.isSafeInteger(number) ? number : null);

function sizeOf(count: number | null, datatype: string): number | null {
  const element = ELEMENT_BYTES[datatype];
  return count === null || element === undefined ? null : known(count * element);
}
