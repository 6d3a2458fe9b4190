/**
 * Calls for which NCCL reported nothing else: Broadcast from 2.29 on, collectives of symmetric memory, calls whose other events were turned
 * off. In a hang such a call may be the only evidence.
 */

import type { HostSpan, Work } from './types.js';
import type { Kept } from './work_ends.js';

export class ApiCalls {
  /** By row: the time of the call, or NaN once its work is known. */
  private readonly called: number[] = [];
  private readonly funcs: string[] = [];
  /** Calls in groups that NCCL has not launched yet. Their work may still come. */
  private readonly pending = new Map<HostSpan, number[]>();

  started(span: HostSpan): void {
    if (span.kind === 'GroupApi') this.pending.set(span, []);
    if (span.kind === 'CeColl' && span.parent) this.found(span.parent);
    if (span.apiRow < 0) return;
    this.called[span.apiRow] = span.start;
    this.funcs[span.apiRow] = span.func;
    if (span.parent) this.pending.get(span.parent)?.push(span.apiRow);
  }

  stopped(span: HostSpan): void {
    this.pending.delete(span);
  }

  workStarted({ api }: Work): void {
    if (api) this.found(api);
  }

  /** `kept`: whether the records after a call were read. */
  finish(kept: Kept): Map<number, string> {
    const tooEarly = new Set([...this.pending.values()].flat());
    const bare = new Map<number, string>();
    this.called.forEach((at, row) => {
      if (at >= kept.from && kept.isRead(at) && !tooEarly.has(row)) bare.set(row, this.funcs[row]!);
    });
    return bare;
  }

  private found(api: HostSpan): void {
    if (api.apiRow >= 0) this.called[api.apiRow] = NaN;
  }
}
