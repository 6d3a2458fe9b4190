/**
 * Draws records that fit no event, at their time: late, repeated, foreign, or unknown to this version. If there are very many, only the
 * first are drawn, and the report counts all. They are drawn at the end, because one ring is read ahead of the other.
 */

import type { TraceNs } from '../../base/time.js';
import type { OddRecord } from '../../model/types.js';
import type { TrackContext } from './context.js';
import type { Args, TrackRef } from './sink.js';

const MOST_SHOWN = 1000;

export class OddTracks {
  private readonly found: { readonly odd: OddRecord; readonly at: TraceNs }[] = [];

  constructor(
    private readonly context: TrackContext,
    private readonly parent: TrackRef,
  ) {}

  add(odd: OddRecord, at: TraceNs): void {
    if (this.found.length < MOST_SHOWN) this.found.push({ odd, at });
  }

  finish(): void {
    if (this.found.length === 0) return;
    const { sink } = this.context;
    const track = sink.describe({
      kind: 'slices',
      name: 'records that fit nothing',
      parent: this.parent,
      rank: 100,
      description:
        `States and stops that came late, again or for no event of this file, and numbers this version does not know. The ` +
        `first ${MOST_SHOWN}; the report counts all.`,
    });
    for (const { odd, at } of this.found.sort((a, b) => a.at - b.at))
      sink.instant(track, at, odd.what, { args: oddArgs(odd) });
  }
}

const NUMBER_NAME: Readonly<Partial<Record<OddRecord['what'], string>>> = {
  'kernel completion without start': 'channel',
  'unknown record kind': 'kind',
};

function oddArgs({ what, event, number }: OddRecord): Args {
  return number === null
    ? [['event', event]]
    : [
        ['event', event],
        [NUMBER_NAME[what] ?? 'state', number],
      ];
}
