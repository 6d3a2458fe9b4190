/** The collectives, sends and receives of one rank file, as far as another tool's kernels can be compared with them. */

import { clusterMembers } from '../../cluster/join_run.js';
import { overAt } from '../../cluster/work_end_times.js';
import { workArrow, workCorrelation } from '../../model/identity.js';
import { workIdentity } from '../../model/work_table.js';
import type { Study } from '../../study/study.js';
import { REDUCES, typeName } from './kernel_names.js';

export interface OurWork {
  /** As kernels are named. */
  readonly func: string;
  /** null: its kernel does not depend on the type. */
  readonly type: string | null;
  /** TraceNs: the end of its last child; if that is not known, its call. */
  readonly end: number;
  /** Id of its arrows; null: it has none. */
  readonly arrow: bigint | null;
  /** The same on all ranks of the operation; null: not known. */
  readonly correlation: number | null;
  /** Number of its communicator in the file. */
  readonly comm: number;
  /** TraceNs: when it was called. */
  readonly called: number;
}

/** By end. */
export function ourWorks({ run, clocks, ends, gpuLines }: Study, file: number): OurWork[] {
  const member = clusterMembers(run, clocks.solution, ends, gpuLines)[file]!;
  const { works, communicators } = run.members[file]!.scan;
  return Array.from(works.key, (_, row): OurWork => {
    const name = works.funcs[works.func[row]!]!;
    const func = name === 'Send' || name === 'Recv' ? 'SendRecv' : name;
    const over = overAt(member, row);
    const correlation = workCorrelation(workIdentity(works, row, communicators));
    return {
      func,
      type: REDUCES.has(func) ? typeName(works.datatypes[works.datatype[row]!]!) : null,
      end: Number.isNaN(over) ? member.time(works.arrival[row]!) : over,
      arrow: correlation === undefined ? null : workArrow(file, correlation),
      correlation: correlation ?? null,
      comm: works.comm[row]!,
      called: member.time(works.arrival[row]!),
    };
  }).sort((a, b) => a.end - b.end);
}
