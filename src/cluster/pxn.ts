/**
 * PXN, between the two passes: which operations a process executed for others, and who executed its own. Both ends are found among the
 * files of the same boot, by the tag of the handles that NCCL passed. Pids are not used. The result is small tables, so the second pass
 * again needs only one file.
 */

import { processTitle } from '../runs/process_title.js';
import type { TraceNs } from '../base/time.js';
import { CONTEXT_RING } from '../rankfile/format/constants.js';
import { splitHandle, tagBits } from '../rankfile/format/handle.js';
import type { ForeignOps, Originator } from '../model/pxn.js';
import { startKey, type HandleKey } from '../model/handle_key.js';
import type { Elsewhere } from '../model/work_end.js';
import type { WorkIdentity } from '../model/work_identity.js';
import { workIdentity, type WorkTable } from '../model/work_table.js';
import type { RunMember } from '../runs/run.js';

/** For the second pass over one file. */
export interface OriginTable {
  readonly contexts: ReadonlyMap<bigint, Originator>;
  readonly works: ReadonlyMap<bigint, WorkIdentity>;
  /** The work that each such handle names, if its file is among the inputs. */
  readonly rows: ReadonlyMap<bigint, { readonly file: number; readonly row: number }>;
  /** By row: this file's works with sends that other processes executed. */
  readonly elsewhere: ReadonlyMap<number, Elsewhere>;
  readonly executed: ExecutedOps;
}

/** Operations that this process executed for others, and how many of them have no originator among the files. */
export interface ExecutedOps {
  readonly ops: number;
  readonly unexplained: number;
  readonly pids: readonly number[];
}

/** `time`: the ticks of a member's file on the trace's axis. */
export function resolveOrigins(
  members: readonly RunMember[],
  time: (member: number, tick: number) => TraceNs,
): OriginTable[] {
  const byTag = membersByTag(members);
  const elsewhere = members.map(() => new Map<number, Elsewhere>());
  const tables = members.map(({ scan }, executor) => {
    const contexts = new Map<bigint, Originator>();
    const works = new Map<bigint, WorkIdentity>();
    const ownRows = new Map<bigint, { file: number; row: number }>();
    const unexplained: ForeignOps[] = [];
    for (const foreign of scan.foreignOps) {
      const origin = originOf(foreign.context, members[executor]!, byTag);
      if (!origin) {
        unexplained.push(foreign);
        continue;
      }
      contexts.set(foreign.context, origin.originator);
      const row = rowOf(foreign.parent, origin.member.scan.header.tag, origin.keys);
      if (row === undefined) continue;
      ownRows.set(foreign.parent, { file: origin.index, row });
      const { works: table, communicators } = origin.member.scan;
      works.set(foreign.parent, workIdentity(table, row, communicators));
      const lastEnd = foreign.lastStop === null ? null : time(executor, foreign.lastStop);
      const rows = elsewhere[origin.index]!;
      rows.set(row, addExecutor(rows.get(row), processTitle(members[executor]!), foreign, lastEnd));
    }
    const sum = (list: readonly ForeignOps[]): number => list.reduce((total, { ops }) => total + ops, 0);
    const executed = {
      ops: sum(scan.foreignOps),
      unexplained: sum(unexplained),
      pids: [...new Set(unexplained.map(({ pid }) => pid))],
    };
    return { contexts, works, rows: ownRows, executed };
  });
  return tables.map((table, i) => ({ ...table, elsewhere: elsewhere[i]! }));
}

interface Tagged {
  readonly index: number;
  readonly member: RunMember;
  /** Rows of the works by the handle of their start. Made at first use. */
  keys: Map<HandleKey, number> | undefined;
}

/** Two processes of one boot with the same tag are ambiguous, so neither is used. */
function membersByTag(members: readonly RunMember[]): Map<string, Tagged | null> {
  const byTag = new Map<string, Tagged | null>();
  members.forEach((member, index) => {
    const key = tagKey(member, tagBits(member.scan.header.tag));
    byTag.set(key, byTag.has(key) ? null : { index, member, keys: undefined });
  });
  return byTag;
}

const tagKey = ({ scan }: RunMember, tag17: number): string => `${scan.header.process.bootId} ${tag17}`;

function originOf(context: bigint, executor: RunMember, byTag: ReadonlyMap<string, Tagged | null>) {
  const tagged = byTag.get(tagKey(executor, tagBits(context)));
  if (!tagged) return null;
  const { member, index } = tagged;
  const handle = split(context, member.scan.header.tag);
  const comm = member.scan.communicators.find(({ number }) => number === handle.position);
  if (handle.ring !== CONTEXT_RING || !comm) return null;
  tagged.keys ??= rowsByKey(member.scan.works);
  const originator = { process: processTitle(member), comm };
  return { index, member, originator, keys: tagged.keys };
}

function rowsByKey({ key: keys }: WorkTable): Map<HandleKey, number> {
  const rows = new Map<HandleKey, number>();
  for (let row = 0; row < keys.length; row++) rows.set(keys[row]!, row);
  return rows;
}

function rowOf(parent: bigint, tag: bigint, keys: ReadonlyMap<HandleKey, number>): number | undefined {
  const handle = split(parent, tag);
  return handle.own ? keys.get(startKey(handle.ring, handle.position)) : undefined;
}

function split(handle: bigint, tag: bigint) {
  return splitHandle(Number(handle & 0xffffffffn), Number(handle >> 32n), tagBits(tag));
}

function addExecutor(
  before: Elsewhere | undefined,
  executor: string,
  { ops, open }: ForeignOps,
  lastEnd: TraceNs | null,
): Elsewhere {
  const ends = [before?.lastEnd ?? null, lastEnd].filter((end) => end !== null);
  return {
    executors: [...new Set([...(before?.executors ?? []), executor])].sort(),
    ops: (before?.ops ?? 0) + ops,
    lastEnd: ends.length === 0 ? null : ends.reduce((a, b) => (b > a ? b : a)),
    isOpen: (before?.isOpen ?? false) || open > 0,
  };
}
