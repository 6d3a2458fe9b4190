/**
 * The interface between what a trace shows above the ranks, or of a recorder, and how Perfetto stores it (src/trace/perfetto). What a rank
 * recorded is drawn in the kernel. Tests write lines of text.
 *
 * Rules for every caller, checked before a byte is written:
 *  - a track is described before its first event, its parent before it;
 *  - slices of one track are properly nested: `end` closes the innermost open slice of its track, and the caller
 *    names the slice it means to close;
 *  - times on one track never go back; at equal times ends come before begins, children's ends before parents';
 *  - events of different tracks may come in any order; what comes in a few streams, each in order of time, costs
 *    the fewest bytes.
 */

import type { TraceNs } from '../../base/time.js';
import type { FlowId } from '../../model/identity.js';
import type { Detail } from '../../model/detail.js';

export type { FlowId };

/** A described track. Numbered from 0 in the order of description, within one sink. */
export type TrackRef = number & { readonly __track: never };
/** An open slice; the caller names it to close it. */
export type SliceRef = number & { readonly __slice: never };

export type ArgValue = string | number | bigint | boolean;
/** Shown as `debug.<name>`. A number must be a safe integer or a finite fraction. Strings are interned. */
export type Args = readonly (readonly [name: string, value: ArgValue])[];

export interface SliceExtra {
  readonly args?: Args | undefined;
  /** The arrow of this slice. Perfetto draws it from the earlier start to the later one. */
  readonly flow?: FlowId | undefined;
  /** Further arrows, by their ids of 64 bits. */
  readonly arrows?: readonly bigint[] | undefined;
  /** Safe integer > 0; slices of one collective share it on all ranks (same colour, SQL join key). */
  readonly correlation?: number | undefined;
}

interface TrackCommon {
  readonly name: string;
  /** The track above this one; absent: directly below the rank's process. */
  readonly parent?: TrackRef | undefined;
  /** Position among the siblings, ascending. */
  readonly rank: number;
  /** Help text that teaches the reader what the track shows. */
  readonly description?: string | undefined;
  /** Depth of detail, for drawing a part; absent: as its parent. 'always': drawn in every part. */
  readonly detail?: Detail | 'always' | undefined;
}

export type TrackSpec =
  | (TrackCommon & { readonly kind: 'group' })
  | (TrackCommon & { readonly kind: 'slices' })
  | (TrackCommon & { readonly kind: 'state' })
  | (TrackCommon & {
      readonly kind: 'counter';
      /** 'bytes' and 'count' are Perfetto's own units. Others are shown as text ("GB/s"). */
      readonly unit: string;
    });

export interface TrackSink {
  describe(spec: TrackSpec): TrackRef;
  begin(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef;
  /** `args` are merged with those of the begin. */
  end(track: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void;
  instant(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void;
  /** Absolute value: a safe integer on 'bytes' and 'count' tracks, any finite number on others. */
  counter(track: TrackRef, at: TraceNs, value: number): void;
  /** Enters a state; null leaves the track without one. Repeating the current state writes nothing. */
  state(track: TrackRef, at: TraceNs, name: string | null): void;
}
