/** Where the step time of each rank went. */

import { addTo } from '../base/grouped.js';
import type { Run } from '../runs/run.js';
import { type CallTotals, WAITS } from '../scan/transfer_totals.js';
import { meansOverTime } from './over_time.js';

/** ns by kind of wait. */
export type WaitTimes = Readonly<Record<(typeof WAITS)[number], number>>;

export interface RankWaits {
  readonly file: number;
  /** Number of transfers that ended. */
  readonly transfers: number;
  readonly all: WaitTimes;
  /** By function, the longest first; '': not known. */
  readonly byFunc: readonly { readonly func: string; readonly times: WaitTimes }[];
  /** ns per transfer, by time. */
  readonly overTime: Readonly<Record<(typeof WAITS)[number], readonly number[]>>;
}

const timesOf = (calls: readonly CallTotals[], nsPerTick: number): WaitTimes =>
  Object.fromEntries(
    WAITS.map((name) => {
      const ticks = calls.reduce((sum, call) => sum + call[`${name}Wait`], 0);
      return [name, Math.round(ticks * nsPerTick)];
    }),
  ) as Record<(typeof WAITS)[number], number>;

export const sumOfTimes = (times: WaitTimes): number => WAITS.reduce((sum, name) => sum + times[name], 0);

export function rankWaits({ members }: Run, file: number): RankWaits {
  const { transfers, header } = members[file]!.scan;
  const byFunc = new Map<string, CallTotals[]>();
  for (const call of transfers.calls) addTo(byFunc, call.func, call);
  const nsPerTick = 1e9 / header.tickHz;
  return {
    file,
    transfers: transfers.ended.total,
    all: timesOf(transfers.calls, nsPerTick),
    byFunc: [...byFunc]
      .map(([func, calls]) => ({ func, times: timesOf(calls, nsPerTick) }))
      .sort((a, b) => sumOfTimes(b.times) - sumOfTimes(a.times)),
    overTime: Object.fromEntries(
      WAITS.map((name, i) => [name, meansOverTime(transfers.ended, transfers.waits[i]!, nsPerTick)]),
    ) as unknown as RankWaits['overTime'],
  };
}
