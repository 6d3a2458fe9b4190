/** What an independent reader sees in a trace: trace_processor's tables, as far as our traces fill them. */

export type ViewArg = string | number | bigint | boolean;

export interface ViewProcess {
  readonly uuid: bigint;
  readonly pid: number;
  readonly name: string;
  readonly rank: number;
  readonly description: string;
  readonly labels: readonly string[];
  /** Time of the descriptor's packet. */
  readonly ts: bigint | undefined;
}

/** 'group': described, but nothing happens on it. */
export type ViewTrackKind = 'process' | 'thread' | 'group' | 'slices' | 'counter' | 'state';

export interface ViewTrack {
  readonly uuid: bigint;
  readonly parent: bigint | undefined;
  readonly name: string;
  /** Names from the topmost track down to this one. */
  readonly path: readonly string[];
  readonly kind: ViewTrackKind;
  readonly process: ViewProcess | undefined;
  readonly rank: number;
  readonly description: string;
  /** 'bytes', 'count', 'ns' or the unit's own name; '' if none is given or this is no counter. */
  readonly unit: string;
  readonly mergesWithSiblings: boolean;
  readonly ordersChildren: boolean;
}

export interface ViewSlice {
  readonly track: ViewTrack;
  readonly name: string | null;
  /** Nanoseconds of the trace's primary clock. */
  readonly ts: bigint;
  /** -1n: never ended. */
  dur: bigint;
  readonly depth: number;
  readonly isInstant: boolean;
  /** Without the prefix `debug.`; those of the end merged into those of the begin. */
  readonly args: Record<string, ViewArg>;
  readonly flows: bigint[];
  correlation: bigint | string | undefined;
}

export interface ViewCounter {
  readonly track: ViewTrack;
  readonly ts: bigint;
  readonly value: number;
}

export interface ViewState {
  readonly track: ViewTrack;
  readonly name: string;
  readonly ts: bigint;
  /** -1n: the last one of its track. */
  dur: bigint;
}

/** An arrow. */
export interface ViewFlow {
  readonly id: bigint;
  readonly from: ViewSlice;
  readonly to: ViewSlice;
}

export interface Problem {
  /** The name of trace_processor's stat where it has one, else words. */
  readonly what: string;
  /** Position of the packet in the file; -1: not about one packet. */
  readonly packet: number;
  readonly detail: string;
}

export class Problems {
  readonly list: Problem[] = [];

  add(what: string, packet: number, detail = ''): void {
    this.list.push({ what, packet, detail });
  }
}
