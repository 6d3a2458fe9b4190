/**
 * The collectives that a process called (CollApi), per communicator, in order: what NCCL was asked for, whether or not it told of a
 * Coll then. Ranks have to make the same calls in the same order; within a group the order does not matter.
 */

import { isLostText } from '../base/lost_text.js';
import type { HostSpan } from './host_span.js';
import type { HandleKey } from './record_fields.js';
import { hasRoot } from './roots.js';

/** What was called; many calls have the same one. */
export interface CallShape {
  readonly func: string;
  /** As called: of AllGather per rank, in elements. */
  readonly count: number;
  readonly datatype: string;
  /** Rank in the communicator, of functions that have one; null: none. */
  readonly root: number | null;
}

/** Of one communicator, one row per call. */
export interface CommCalls {
  /** Index into the file's shapes. */
  readonly shape: Uint32Array;
  /** Ticks. */
  readonly at: Float64Array;
  /** Of the start record. */
  readonly keys: Float64Array;
  /** 1: in another group than the call before. */
  readonly begins: Uint8Array;
  /** One was recorded into a graph: when it runs, and how often, calls do not tell. */
  readonly hasCaptured: boolean;
  /** The first call from which on the group and the name of each are known. */
  readonly knownFrom: number;
  /** The group of the last one had not been ended: more calls may have belonged to it. */
  readonly isLastOpen: boolean;
}

export interface CallTable {
  readonly shapes: readonly CallShape[];
  /** By number of the communicator. */
  readonly comms: ReadonlyMap<number, CommCalls>;
  /** Calls of communicators of which nothing is known. */
  readonly nameless: number;
}

interface Draft {
  readonly shape: number[];
  readonly at: number[];
  readonly keys: HandleKey[];
  readonly begins: number[];
  group: HostSpan | null;
  hasCaptured: boolean;
  knownFrom: number;
}

export class CallTableBuilder {
  private readonly shapes = new Map<string, CallShape & { readonly number: number }>();
  private readonly drafts = new Map<number, Draft>();
  private nameless = 0;

  add(span: HostSpan): void {
    if (span.kind !== 'CollApi') return;
    if (span.comm === null) {
      this.nameless++;
      return;
    }
    const draft = this.draft(span.comm.number);
    draft.begins.push(Number(draft.shape.length === 0 || span.parent !== draft.group));
    draft.shape.push(this.shapeOf(span));
    draft.at.push(span.start);
    draft.keys.push(span.key);
    draft.group = span.parent;
    if (span.graphCaptured) draft.hasCaptured = true;
    if (span.parent === null || isLostText(span.func) || isLostText(span.datatype))
      draft.knownFrom = draft.shape.length;
  }

  finish(): CallTable {
    return {
      shapes: [...this.shapes.values()].map(({ func, count, datatype, root }) => ({
        func,
        count,
        datatype,
        root,
      })),
      comms: new Map(
        [...this.drafts].map(([number, { shape, at, keys, begins, hasCaptured, knownFrom, group }]) => [
          number,
          {
            shape: Uint32Array.from(shape),
            at: Float64Array.from(at),
            keys: Float64Array.from(keys),
            begins: Uint8Array.from(begins),
            hasCaptured,
            knownFrom,
            isLastOpen: group !== null && isOpen(group),
          },
        ]),
      ),
      nameless: this.nameless,
    };
  }

  private draft(comm: number): Draft {
    let draft = this.drafts.get(comm);
    if (!draft) {
      const columns = { shape: [], at: [], keys: [], begins: [] };
      draft = { ...columns, group: null, hasCaptured: false, knownFrom: 0 };
      this.drafts.set(comm, draft);
    }
    return draft;
  }

  private shapeOf({ func, count, datatype, facts }: HostSpan): number {
    const root = facts?.kind === 'Api' && hasRoot(func) ? facts.root : null;
    const key = `${func} ${count} ${datatype} ${root}`;
    const known = this.shapes.get(key);
    if (known) return known.number;
    const number = this.shapes.size;
    this.shapes.set(key, { func, count, datatype, root, number });
    return number;
  }
}

/** A call outside of ncclGroupStart and ncclGroupEnd has a group of its own, of depth 1. */
const isOpen = ({ stop, ending, facts }: HostSpan): boolean =>
  stop === null && ending === null && !(facts?.kind === 'GroupApi' && facts.depth <= 1);
