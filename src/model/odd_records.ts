/**
 * Records that fit no event or are unknown to this version, counted by cause (src/kernel/odd.ts), so that no late, repeated, foreign or new
 * record is dropped without a count.
 */

import type { OddRow } from '../kernel/result_rows.js';

export interface OddCounts extends Readonly<OddRow> {
  /** Unknown states and event types, with their numbers: "ProxyStep state 99", "event type 0x40000". */
  readonly unknown: Map<string, number>;
}
