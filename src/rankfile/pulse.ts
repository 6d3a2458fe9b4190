/**
 * A cheap look at a rank file that may be in use: its header, its newest heartbeat and how many slots its rings have handed out. It reads
 * no record, so it can be taken every few seconds of every file.
 */

import { openFile } from './byte_source.js';
import { readDirectory } from './directory.js';
import * as format from './format/constants.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import type { RankFileHeader } from './file_types.js';

export interface Pulse {
  readonly header: RankFileHeader;
  /** The bytes of the heartbeat. They differ from those of the look before if the recorder lives. */
  readonly beat: string;
  /** Slots handed out by all rings: it grows when anything is recorded. For rings outside of the file it is up to 2 s old. */
  readonly slots: number;
}

/** Throws RankFileError. */
export function readPulse(path: string): Pulse {
  const file = openFile(path);
  try {
    const problems = new Problems();
    const { header, layout } = readHeader(file, problems);
    let beat = '';
    let slots = 0;
    for (const { ring, table, liveOffset, slotsOffset, capacity } of readDirectory(file, layout, problems)
      .areas) {
      if (ring !== null) {
        const live = file.read(liveOffset, format.AREA_LIVE_BYTES);
        if (live.length === format.AREA_LIVE_BYTES)
          slots += Number(new DataView(live.buffer).getBigUint64(format.AREA_LIVE.head, true));
      } else if (table === 'heartbeat')
        beat = Buffer.from(file.read(slotsOffset, capacity * format.SLOT_BYTES)).toString('base64');
    }
    return { header, beat, slots };
  } finally {
    file.close();
  }
}
