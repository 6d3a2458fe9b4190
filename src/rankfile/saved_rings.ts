/**
 * Rings saved beside a rank file. If a process with rings outside its rank file has ended, a recorder of the same node copies the rings to
 * `<rank file>.rings`. Readers of the rank file then see one file: everything before chunks_offset comes from the saved rings, chunks come
 * from the rank file. The rules are in schemas/rank-file.md.
 */

import { maxOf } from '../base/extremes.js';
import { RankFileError } from '../base/errors.js';
import * as format from './format/constants.js';
import { AreaReader } from './areas.js';
import type { ByteSource } from './byte_source.js';
import { readDirectory } from './directory.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import { readClockSamples } from './table_records.js';
import { frameOf } from './tick_frame.js';
import type { RankFileHeader } from './file_types.js';

const H = format.FILE_HEADER;

export const SAVED_RINGS = '.rings';

/**
 * The rank file and its saved rings as one source. If the rings are not used, the reason is reported under the rank file's name. Throws
 * RankFileError if the first is no rank file.
 */
export function withSavedRings(file: ByteSource, rings: ByteSource): ByteSource | string {
  const theirs = rings.read(0, format.HEADER_BYTES);
  const ours = file.read(0, format.HEADER_BYTES);
  if (!hasBegun(theirs))
    return 'the saved rings beside it (.rings) are not complete: who saved them did not finish';
  // If the process died before it wrote its rank file's header, there is nothing to compare.
  if (hasBegun(ours) && !isSameProcess(ours, theirs))
    return 'the saved rings beside it (.rings) belong to another process';
  const saved = ageOf(rings);
  const { border } = saved;
  if (border === 0) return 'the saved rings beside it (.rings) do not say where they end, not used';
  if (rings.bytes < border) return 'the saved rings beside it (.rings) are cut short, not used';
  const own = hasBegun(ours) ? ageIfReadable(file) : null;
  if (own !== null && isOlder(saved, own))
    return 'the saved rings beside it (.rings) are older than the file, not used';
  return {
    path: file.path,
    bytes: Math.max(file.bytes, border),
    allocated: (file.allocated ?? file.bytes) + (rings.allocated ?? rings.bytes),
    read(offset, length) {
      if (offset >= border) return file.read(offset, length);
      const before = rings.read(offset, Math.min(length, border - offset));
      if (offset + length <= border || offset + before.length < border) return before;
      const behind = file.read(border, offset + length - border);
      const all = new Uint8Array(before.length + behind.length);
      all.set(before);
      all.set(behind, before.length);
      return all;
    },
  };
}

interface Age {
  readonly header: RankFileHeader;
  /** Number of the newest heartbeat; -1: there is none. */
  readonly heartbeat: number;
  /** chunks_offset. */
  readonly border: number;
}

function ageOf(source: ByteSource): Age {
  const uncounted = new Problems(); // the file's reader counts them
  const { header, layout } = readHeader(source, uncounted);
  const kernel = new KernelFile();
  const reader = new AreaReader(source, frameOf(header), uncounted, kernel);
  const areas = readDirectory(source, layout, uncounted).areas.filter(({ table }) => table === 'heartbeat');
  const ticks = areas.flatMap((area) =>
    readClockSamples(reader.table(area).records, uncounted).map(({ tick }) => tick),
  );
  kernel.close();
  return { header, heartbeat: maxOf(ticks, -1), border: layout.chunksOffset };
}

/** A damaged file cannot be newer. */
function ageIfReadable(source: ByteSource): Age | null {
  try {
    return ageOf(source);
  } catch (error) {
    if (error instanceof RankFileError) return null;
    throw error;
  }
}

/**
 * Whether the process went on after its rings were saved, because another recorder wrongly thought that it had ended. Saved rings that are
 * marked closed hold everything that was copied at the closing.
 */
function isOlder(saved: Age, own: Age): boolean {
  if (own.heartbeat > saved.heartbeat) return true;
  const { life, copiedTick } = own.header;
  return (
    life === 'closed' && saved.header.life !== 'closed' && copiedTick !== null && copiedTick > saved.heartbeat
  );
}

const hasBegun = (header: Uint8Array): boolean =>
  header.length === format.HEADER_BYTES &&
  new DataView(header.buffer, header.byteOffset).getUint32(H.life, true) !== format.Life.Creating;

/** Tag, boot, process, counter and start: [tag, rank). */
export const isSameProcess = (a: Uint8Array, b: Uint8Array): boolean =>
  Buffer.compare(a.subarray(H.tag, H.rank), b.subarray(H.tag, H.rank)) === 0;
