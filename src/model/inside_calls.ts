/**
 * Where threads are inside NCCL when their records end: in a call, or in the end of a group, that has not returned and has no further
 * events. NCCL connects at first use and blocks there if a peer never arrives. No Coll or P2p exists then.
 */

import { addTo } from '../base/grouped.js';
import type { Ticks } from '../base/time.js';
import { NOTHING_LOST, type LostAfter } from './lost_ends.js';
import type { HandleKey } from './record_fields.js';
import { hasRoot } from './roots.js';
import type { HostSpan, Work } from './types.js';

export interface InsideCall {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly func: string;
  readonly isTransfer: boolean;
  readonly count: number;
  readonly datatype: string;
  readonly root: number | null;
  /** Time of the call. */
  readonly at: Ticks;
  readonly key: HandleKey;
  /** Calls of the same group on that communicator. */
  readonly calls: number;
}

export class InsideCalls {
  /** Groups that have not ended, with their calls. */
  private readonly groups = new Map<HostSpan, HostSpan[]>();
  /** Calls that have not returned. Includes calls of threads whose group is not known. */
  private readonly calls = new Set<HostSpan>();

  started(span: HostSpan): void {
    if (span.kind === 'GroupApi') this.groups.set(span, []);
    if (span.kind !== 'CollApi' && span.kind !== 'P2pApi') return;
    this.calls.add(span);
    if (span.parent) this.groups.get(span.parent)?.push(span);
  }

  stopped(span: HostSpan): void {
    this.groups.delete(span);
    this.calls.delete(span);
  }

  /** The call led to work, which shows what it waits for. */
  workStarted({ api }: Work): void {
    const group = api?.parent;
    if (group && this.groups.has(group)) this.groups.set(group, []);
    if (api) this.calls.delete(api);
  }

  finish(lostAfter: LostAfter = NOTHING_LOST): InsideCall[] {
    const ended = [...this.groups].flatMap(([group, calls]) => (isInNccl(group) ? calls : []));
    const open = [...this.calls].filter(({ stop }) => stop === null);
    const byComm = new Map<string, HostSpan[]>();
    for (const span of new Set([...ended, ...open])) {
      if (!span.comm || span.graphCaptured || lostAfter(span.ring, span.start) > 0) continue;
      const key = `${span.ring} ${span.comm.number}`;
      addTo(byComm, key, span);
    }
    return [...byComm.values()].map((spans) => {
      const first = spans.reduce((a, b) => (b.start < a.start ? b : a));
      const { comm, func, count, datatype, kind, start, key, facts } = first;
      return {
        comm: comm!.number,
        func,
        isTransfer: kind === 'P2pApi',
        count,
        datatype,
        root: facts?.kind === 'Api' && hasRoot(func) ? facts.root : null,
        at: start,
        key,
        calls: spans.length,
      };
    });
  }
}

/** Between ncclGroupStart and ncclGroupEnd the application runs. */
const isInNccl = ({ ending, stop }: HostSpan): boolean => ending !== null && stop === null;
