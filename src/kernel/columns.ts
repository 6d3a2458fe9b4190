/** Records of a segment in columns, for the host (src/kernel/host/column_reader.ts, which has the same layout). */

import { SLOT_BYTES } from './numbers';
import { Records, SEGMENT_SLOTS } from './record';

const ROWS: i32 = SEGMENT_SLOTS + 1;
/** Words of a record's further slots: three of 64 bits each. A record that began earlier has at most 14 slots. */
const EXTRA: i32 = (SEGMENT_SLOTS + 14) * 6;

/** Offsets: position and tick (f64), words 1 and 2 as halves (u32), the first extra word of each row (u32, one more), extra words (u32), kind (u8). */
const TICK: usize = 8 * ROWS;
const WORDS: usize = 16 * ROWS;
const EXTRA_START: usize = 32 * ROWS;
const EXTRA_WORDS: usize = EXTRA_START + 4 * (ROWS + 1);
const KIND: usize = EXTRA_WORDS + 4 * EXTRA;
export const COLUMN_BYTES: usize = KIND + ROWS;

export function putColumns(records: Records, at: usize): void {
  const rows = records.length;
  let extra = 0;
  for (let row = 0; row < rows; row++) {
    const slot = unchecked(records.slot[row]);
    const eight = at + usize(row) * 8;
    const four = at + WORDS + usize(row) * 4;
    store<f64>(eight, unchecked(records.position[row]));
    store<f64>(eight + TICK, unchecked(records.tick[row]));
    store<u32>(four, load<u32>(slot, 8));
    store<u32>(four + 4 * ROWS, load<u32>(slot, 12));
    store<u32>(four + 8 * ROWS, load<u32>(slot, 16));
    store<u32>(four + 12 * ROWS, load<u32>(slot, 20));
    store<u32>(at + EXTRA_START + usize(row) * 4, extra);
    store<u8>(at + KIND + usize(row), unchecked(records.kind[row]));
    for (let part = 1; part < <i32>unchecked(records.parts[row]); part++, extra += 6)
      memory.copy(at + EXTRA_WORDS + usize(extra) * 4, slot + usize(part * SLOT_BYTES), 24);
  }
  store<u32>(at + EXTRA_START + usize(rows) * 4, extra);
}
