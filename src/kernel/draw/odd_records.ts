/**
 * Draws records that fit no event, at their time: late, repeated, foreign, or unknown to this version. If there are very many, only the
 * first are drawn, and the report counts all. They are drawn at the end, because one ring is read ahead of the other.
 */

import { OddCause, OddCounts, OddRecord } from '../odd';
import { Clock } from './clock';
import { Sink } from './sink';
import { hexOf } from './texts';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';
import { eventName } from './words';

export function drawOddRecords(sink: Sink, clock: Clock, odd: OddCounts, parent: Track): void {
  const rows: OddRecord[] = [];
  for (let row = 0; row < odd.records.length; row++) {
    const record = odd.records.at(row);
    record.at = clock.time(record.at);
    rows.push(record);
  }
  if (rows.length == 0) return;
  const texts = sink.texts;
  const track = sink.newTrack(parent, TrackKind.Slices, Detail.Inherited, What.OddRecords);
  rows.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.row - b.row));
  for (let i = 0; i < rows.length; i++) {
    const record = rows[i];
    const isHandle = record.cause == OddCause.NoSuchEvent || record.cause == OddCause.OfAnother;
    sink.text(
      texts.fixed('event'),
      isHandle
        ? texts.of('0x' + hexOf(record.handle).padStart(16, '0'))
        : record.cause == OddCause.UnknownKind
          ? texts.fixed('record')
          : texts.fixed(eventName(record.event)),
    );
    if (!isNaN(record.number)) sink.number(texts.fixed(numberName(record.cause)), record.number);
    sink.instant(track, record.at, texts.fixed(causeText(record.cause)));
  }
}

function numberName(cause: OddCause): string {
  if (cause == OddCause.KernelWithoutStart) return 'channel';
  return cause == OddCause.UnknownKind ? 'kind' : 'state';
}

function causeText(cause: OddCause): string {
  switch (cause) {
    case OddCause.StateAfterStop:
      return 'state after stop';
    case OddCause.StopAfterStop:
      return 'stop after stop';
    case OddCause.NoSuchEvent:
      return 'no such event';
    case OddCause.OfAnother:
      return 'handle of another process';
    case OddCause.StateAgain:
      return 'state again';
    case OddCause.UnknownState:
      return 'unknown state';
    case OddCause.UnknownKind:
      return 'unknown record kind';
    case OddCause.KernelWithoutStart:
      return 'kernel completion without start';
    case OddCause.StaleParent:
      return 'stale parent';
    case OddCause.StartAgain:
      return 'start again';
    default:
      return 'after finalize';
  }
}
