/** The collectives, sends and receives of one rank file, as far as another tool's kernels can be compared with them. */

import { clusterMembers } from '../../cluster/join_run.js';
import { overAt } from '../../cluster/work_end_times.js';
import { workArrow, workCorrelation } from '../../model/identity.js';
import { workIdentity } from '../../model/work_table.js';
import type { Study } from '../../study/study.js';
import { REDUCES, typeName } from './kernel_names.js';

export interface OurWork {
  /** In the file's works. */
  readonly row: number;
  /** As kernels are named. */
  readonly func: string;
  /** null: its kernel does not depend on the type. */
  readonly type: string | null;
  /** TraceNs: when it ended, or when it was called. */
  readonly at: number;
  /** Id of its arrows; null: it has none. */
  readonly arrow: bigint | null;
  /** The same on all ranks of the operation; null: not known. */
  readonly correlation: number | null;
  /** Number of its communicator in the file. */
  readonly comm: number;
  /** TraceNs: when it was called. */
  readonly called: number;
}

export interface OurWorks {
  /** What `at` is of all of them: the end, if the records say it of most; else the call. */
  readonly by: 'end' | 'call';
  /** In order of `at`. */
  readonly works: readonly OurWork[];
}

export function ourWorks({ run, clocks, ends, gpuLines }: Study, file: number): OurWorks {
  const member = clusterMembers(run, clocks.solution, ends, gpuLines)[file]!;
  const { works, communicators } = run.members[file]!.scan;
  const over = Array.from(works.key, (_, row) => overAt(member, row));
  const by = 2 * over.filter(Number.isNaN).length > over.length ? 'call' : 'end';
  const all = Array.from(works.key, (_, row): OurWork => {
    const name = works.funcs[works.func[row]!]!;
    const func = name === 'Send' || name === 'Recv' ? 'SendRecv' : name;
    const called = member.time(works.arrival[row]!);
    const correlation = workCorrelation(workIdentity(works, row, communicators));
    return {
      row,
      func,
      type: REDUCES.has(func) ? typeName(works.datatypes[works.datatype[row]!]!) : null,
      at: by === 'call' || Number.isNaN(over[row]) ? called : over[row]!,
      arrow: correlation === undefined ? null : workArrow(file, correlation),
      correlation: correlation ?? null,
      comm: works.comm[row]!,
      called,
    };
  });
  return { by, works: all.sort((a, b) => a.at - b.at) };
}
