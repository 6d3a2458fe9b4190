/**
 * Open folds: repeats that were going on at the file's last write, from the producers' own caches. An entry counts if its key matches its
 * handle. When a series of repeats ends, the producer first writes a Fold record and then sets the entry's count to 0. A file that was
 * copied between the two has both. Then the record counts.
 */

import * as format from './format/constants.js';
import { foldKey } from './format/handle.js';
import type { Problems } from './problems.js';
import { type TickFrame, tickIn } from './tick_frame.js';
import type { OpenFold, RecordColumns } from './file_types.js';
import { u64, wordAt } from './field_values.js';

export function readFolds(bytes: Uint8Array, ring: number, frame: TickFrame, problems: Problems): OpenFold[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const folds: OpenFold[] = [];
  for (let at = 0; at + format.FOLD_BYTES <= bytes.length; at += format.FOLD_BYTES) {
    const handle = view.getBigUint64(at + format.FOLD.handle, true);
    const control = view.getBigUint64(at + format.FOLD.control, true);
    const count = Number(control & 0xffffffffn);
    if (handle === 0n || count === 0) continue;
    if (Number(control >> 48n) !== foldKey(handle)) {
      problems.add('open folds caught in mid-change, skipped');
      continue;
    }
    const lastTick = tickIn(frame, view.getBigUint64(at + format.FOLD.lastTick, true));
    if (lastTick === null) {
      problems.add('open folds with an impossible time, left out');
      continue;
    }
    const state = Number((control >> 32n) & 0xffffn);
    folds.push({
      ring,
      handleLow: Number(handle & 0xffffffffn),
      handleHigh: Number(handle >> 32n),
      state: state === format.FOLD_STATE_START ? 'start' : state,
      count,
      lastTick,
    });
  }
  return folds;
}

/** The `folds`, all of one ring, that have no record in `records`. */
export function withoutRecorded(
  folds: readonly OpenFold[],
  records: RecordColumns,
  frame: TickFrame,
): readonly OpenFold[] {
  if (folds.length === 0) return folds;
  const recorded = new Set<string>();
  for (let row = 0; row < records.length; row++) {
    if (records.kind[row] !== format.Kind.Fold) continue;
    const repeated = records.word2Low[row]!;
    const state = repeated === format.FOLD_OF_START ? 'start' : repeated;
    const lastTick = tickIn(frame, wordAt(records, row, 1, 0));
    const handle = u64(records.word1Low[row]!, records.word1High[row]!);
    recorded.add(`${handle} ${state} ${lastTick}`);
  }
  const key = (fold: OpenFold): string =>
    `${u64(fold.handleLow, fold.handleHigh)} ${fold.state} ${fold.lastTick}`;
  return folds.filter((fold) => !recorded.has(key(fold)));
}
