/**
 * The works of a file from the kernel's rows: their names and arguments, when they ended, and how. NCCL only reports when a work was
 * *enqueued*. It ends when its last child ends.
 */

import { entryOf } from '../base/grouped.js';
import { type Column, Names, narrow, narrowed } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import type { Ticks } from '../base/time.js';
import type { Numbers } from '../kernel/host/numbers.js';
import { EndRow, WorkRow } from '../kernel/result_rows.js';
import { hasRoot } from '../model/roots.js';
import { WORK_OUTCOMES, type WorkOutcome } from '../model/work_end.js';
import { END_TIMES, type WorkEndTable } from '../model/work_end_table.js';
import { KEPT_AS_THEY_ARE, type WorkTable } from '../model/work_table.js';
import type { Communicator } from '../rankfile/file_types.js';

/** One row each, in order of start. Names are numbers of texts. */
export type WorkRows = ReturnType<typeof readWorks>;

export const readWorks = (numbers: Numbers) => ({
  ...numbers.table(WorkRow),
  ends: numbers.table(EndRow),
});

export const isColl = (works: WorkRows, row: number): boolean => works.seq[row]! >= 0;

export const isPending = ({ enqueued, openChildren }: WorkRows, row: number): boolean =>
  Number.isNaN(enqueued[row]) || openChildren[row]! > 0;

export function workTable(works: WorkRows, text: (id: number) => string): WorkTable {
  const [func, funcs] = named(works.func, text);
  const [datatype, datatypes] = named(works.datatype, text);
  const [plan, plans] = named(
    works.algo.map((algo, row) => algo * TEXTS + works.proto[row]!),
    (both) => planOf(text(Math.floor(both / TEXTS)), text(both % TEXTS)),
  );
  const hasRoots = funcs.map(hasRoot);
  const root = narrow(works.root.map((rank, row) => (hasRoots[func[row]!] ? rank : -1)));
  // Most runs have only collectives: then the column takes no memory.
  const group = narrow(works.group.map((key, row) => (isColl(works, row) ? -1 : key)));
  return { ...narrowed(works, KEPT_AS_THEY_ARE), func, datatype, plan, root, group, funcs, datatypes, plans };
}

/** More than a file has texts. */
const TEXTS = 2 ** 16;

/** Algorithm and protocol, as RING/SIMPLE; '': not known. */
export const planOf = (algo: string, proto: string): string =>
  algo === '' || isLostText(algo) || isLostText(proto) ? '' : `${algo}/${proto}`;

/** Each name once, because a file may have a text several times, and the name of each row. */
function named(ids: Float64Array, nameOf: (id: number) => string): [Column, readonly string[]] {
  const names = new Names();
  const known = new Map<number, number>();
  const numbers = ids.map((id) => entryOf(known, id, () => names.number(nameOf(id))));
  return [narrow(numbers), names.all()];
}

/** The times for which all records of a kind were read. */
export interface Kept {
  /** Ticks: before it, records may have been overwritten. */
  readonly from: Ticks;
  /** Whether the records that follow an event of that time were read. */
  readonly isRead: (at: number) => boolean;
}

/** What is known besides the works' own rows. */
export interface EndEvidence {
  readonly communicators: ReadonlyMap<number, Communicator>;
  /** The times for which all children of works were read. */
  readonly kept: Kept;
  /**
   * Rows whose end may be among lost records. NCCL runs a communicator's work in order, so work before a finished collective has ended,
   * too.
   */
  readonly doubtful: ReadonlySet<number>;
  /** By row: what the GPU was seen not to end (pending_works.ts). */
  readonly unended: ReadonlyMap<number, 'unfinished' | 'unknown'>;
  /** Rows whose end may be in a part that was not read. */
  readonly unread: ReadonlySet<number>;
}

export function workEnds(works: WorkRows, evidence: EndEvidence): WorkEndTable {
  const { unread, unended } = evidence;
  const passed = passedBy(works, evidence);
  const finalized = new Map<number, Ticks>();
  const outcome = Uint8Array.from({ length: works.length }, (_, row) => {
    const end = unread.has(row)
      ? 'not-read'
      : passed.has(row)
        ? 'end-lost'
        : outcomeOf(works, row, evidence, unended.get(row));
    if (end === 'aborted') finalized.set(row, finalizeOf(works, row, evidence)!);
    return WORK_OUTCOMES.indexOf(end);
  });
  return {
    ...narrowed(works.ends, END_TIMES),
    outcome: narrow(outcome),
    finalized,
    cutOff: new Map(),
    elsewhere: new Map(),
  };
}

/** Doubtful rows before a finished collective of their communicator. */
function passedBy(works: WorkRows, evidence: EndEvidence): ReadonlySet<number> {
  const passed = new Set<number>();
  if (evidence.doubtful.size === 0) return passed;
  const completeLater = new Set<number>();
  for (let row = works.length - 1; row >= 0; row--) {
    const comm = works.comm[row]!;
    if (comm < 0) continue;
    const end = outcomeOf(works, row, evidence, undefined);
    if (end === 'complete' && isColl(works, row)) completeLater.add(comm);
    // For a communicator that was destroyed in order it says "aborted".
    if (end !== 'complete' && evidence.doubtful.has(row) && completeLater.has(comm)) passed.add(row);
  }
  return passed;
}

function outcomeOf(
  works: WorkRows,
  row: number,
  evidence: EndEvidence,
  unended: 'unfinished' | 'unknown' | undefined,
): WorkOutcome {
  const { kept } = evidence;
  const start = works.start[row]!;
  if (isPending(works, row) || unended === 'unfinished') {
    const finalized = finalizeOf(works, row, evidence);
    return finalized !== null && start <= finalized ? 'aborted' : 'open';
  }
  // If a kernel ended, the work ended. Operations do not show it here, because the ends of some are not known.
  if (works.endlessOps[row]! > 0 && Number.isNaN(works.ends.noticed[row])) return 'endless';
  if (unended === 'unknown') return 'no-children';
  if (works.children[row]! > 0) return 'complete';
  if (start < kept.from) return 'outside-window';
  return kept.isRead(start) ? 'no-children' : 'not-read';
}

const finalizeOf = ({ comm }: WorkRows, row: number, { communicators }: EndEvidence): Ticks | null =>
  communicators.get(comm[row]!)?.finalized ?? null;
