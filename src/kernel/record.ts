/**
 * Makes records of a ring's slots. A record counts if all its parts lie at consecutive positions, have one kind and one number of parts, and
 * if this number is enough for the kind. A record is read where its slots lie. If they do not lie one after the other, they are copied
 * together. schemas/rank-file.md has the layout of slots and records.
 */

import { file } from './file';
import { Kind, MAX_PARTS, SLOT_BYTES } from './numbers';
import { ChunkSlots, RingSlots, Slots, Stretch } from './slots';

/** Slots of a segment at most. A segment stays in the processor's cache until its records are used. */
export const SEGMENT_SLOTS: i32 = 4096;

/** Word 3 of a slot: kind:8 part:4 parts:4, then the position's low bits and the check. */
function metaAt(slot: usize): u32 {
  return load<u16>(slot, 24);
}

/** A record: its first slot in memory, its further slots behind it. */
export class Records {
  /** One row per record of the segment. */
  length: i32 = 0;
  readonly slot: StaticArray<usize> = new StaticArray<usize>(SEGMENT_SLOTS + 1);
  readonly kind: StaticArray<u8> = new StaticArray<u8>(SEGMENT_SLOTS + 1);
  readonly parts: StaticArray<u8> = new StaticArray<u8>(SEGMENT_SLOTS + 1);
  readonly tick: StaticArray<f64> = new StaticArray<f64>(SEGMENT_SLOTS + 1);
  readonly position: StaticArray<f64> = new StaticArray<f64>(SEGMENT_SLOTS + 1);

  @inline
  tickAt(row: i32): f64 {
    return unchecked(this.tick[row]);
  }

  /** A parent, or a handle. */
  @inline
  word1(row: i32): u64 {
    return load<u64>(unchecked(this.slot[row]), 8);
  }

  @inline
  word2(row: i32): u64 {
    return load<u64>(unchecked(this.slot[row]), 16);
  }

  /** The communicator's number. */
  @inline
  comm(row: i32): u32 {
    return load<u32>(unchecked(this.slot[row]), 16);
  }

  /** Upper half of word 2: a field of its own in every start. */
  @inline
  detail(row: i32): u32 {
    return load<u32>(unchecked(this.slot[row]), 20);
  }

  /** Word 0 to 2 of slot 1 and up. Missing slots read as zero. */
  @inline
  more(row: i32, slot: i32, word: i32): u64 {
    if (slot >= <i32>unchecked(this.parts[row])) return 0;
    return load<u64>(unchecked(this.slot[row]) + <usize>(slot * SLOT_BYTES + word * 8));
  }

  /** 32 bits of the same; `half`: 0 is the low one. */
  @inline
  more32(row: i32, slot: i32, word: i32, half: i32): u32 {
    return <u32>(this.more(row, slot, word) >> (<u64>half * 32));
  }

  /** As a number: counts, sizes. A larger one is garbage, because NCCL leaves fields uninitialised, and reads as the largest exact number. */
  @inline
  moreNumber(row: i32, slot: i32, word: i32): f64 {
    return exact(this.more(row, slot, word));
  }

  @inline
  isLong(row: i32): bool {
    return unchecked(this.parts[row]) > 1;
  }
}

const MAX_SAFE: u64 = (1 << 53) - 1;

export function exact(value: u64): f64 {
  return <f64>(value < MAX_SAFE ? value : MAX_SAFE);
}

/** Positions [from, end) without a record, before the row. */
@unmanaged
class Hole {
  from: f64;
  end: f64;
  /** Ticks of the records before and after; NaN: none. */
  after: f64;
  before: f64;
}

/** Counted for each ring. */
@unmanaged
export class RingCounts {
  records: f64;
  /** Records with too few slots for their kind: a hole. */
  tooShort: f64;
  /** Records with a tick before the file's start. They get the start's tick. */
  early: f64;
  /** Records with an impossible tick or count: a hole. */
  impossible: f64;
  /** Tick of the newest record; NaN: none. */
  lastTick: f64;
}

/** A repeat that was going on at the file's last write. */
export class OpenFold {
  /** The ring also has the record, so the record counts. */
  isRecorded: bool = false;

  constructor(
    readonly handle: u64,
    /** FOLD_OF_START: the start itself. */
    readonly state: u32,
    readonly count: f64,
    readonly lastTick: f64,
  ) {}
}

/** The records of one ring, segment by segment. */
export class RingReader {
  readonly records: Records = new Records();
  readonly counts: RingCounts = changetype<RingCounts>(heap.alloc(offsetof<RingCounts>()));
  readonly kinds: StaticArray<u32> = new StaticArray<u32>(256);
  readonly folds: OpenFold[] = [];
  /** The ring's own slots, and those of the chunk that is read. */
  readonly ring: RingSlots = new RingSlots();
  readonly chunk: ChunkSlots = new ChunkSlots();
  readonly holes: usize = heap.alloc((SEGMENT_SLOTS + 1) * offsetof<Hole>());
  holeCount: i32 = 0;

  /** One past the newest record's last slot. */
  private covered: f64 = 0;
  private lastTick: f64 = NaN;
  /** The unfinished record: its first slot, its position, its number of missing parts, the position of the next one. */
  private open: usize = 0;
  private openPosition: f64 = 0;
  private openMeta: u32 = 0;
  private missing: i32 = 0;
  private expected: f64 = 0;
  /** Memory for records whose slots do not lie one after the other: at the end of a ring, of a stretch, of a chunk. Used again. */
  private readonly patches: usize[] = [];
  private patchesUsed: i32 = 0;

  /** `minParts`: least number of slots, by kind. */
  constructor(private readonly minParts: usize) {
    memory.fill(changetype<usize>(this.counts), 0, offsetof<RingCounts>());
    this.counts.lastTick = NaN;
  }

  /** One past the newest record's last slot. */
  get end(): f64 {
    return this.covered;
  }

  /** The next segment: `count` stretches of the ring, or of its chunk. */
  read(slots: Slots, stretches: usize, count: i32): void {
    this.records.length = 0;
    this.holeCount = 0;
    // Only the unfinished record still lies in a patch.
    this.patchesUsed = 0;
    if (this.missing > 0) this.patch();
    for (let i = 0; i < count; i++) {
      const stretch = changetype<Stretch>(stretches + usize(i) * offsetof<Stretch>());
      const length = stretch.length;
      let slot = slots.slotAt(i32(stretch.index));
      for (let n: f64 = 0; n < length; n++, slot += SLOT_BYTES) this.take(slot, stretch.position + n);
    }
    // The next chunk comes into the memory of this one.
    if (this.missing > 0) this.patch();
  }

  @inline
  private take(slot: usize, position: f64): void {
    const meta = metaAt(slot);
    if ((meta & 0x0f00) == 0) {
      this.open = slot;
      this.openPosition = position;
      this.openMeta = meta;
      this.missing = <i32>(meta >> 12) - 1;
      this.expected = position + 1;
      if (this.missing == 0) this.commit();
    } else if (this.missing > 0 && position == this.expected && meta == this.nextMeta()) {
      const place = this.open + this.openBytes;
      if (place != slot) this.append(slot);
      this.expected += 1;
      if (--this.missing == 0) this.commit();
    } else this.missing = 0;
  }

  /** Same kind and parts as the first slot, and the next part. */
  @inline
  private nextMeta(): u32 {
    return this.openMeta | (((this.openMeta >> 12) - <u32>this.missing) << 8);
  }

  /** How many bytes the parts that were read so far hold. */
  private get openBytes(): usize {
    return usize(i32(this.openMeta >> 12) - this.missing) * SLOT_BYTES;
  }

  private append(slot: usize): void {
    if (!this.isPatched) this.patch();
    memory.copy(this.open + this.openBytes, slot, SLOT_BYTES);
  }

  private get isPatched(): bool {
    return this.patchesUsed > 0 && this.patches[this.patchesUsed - 1] == this.open;
  }

  /** Moves the parts so far to memory of their own. */
  private patch(): void {
    if (this.patchesUsed == this.patches.length) this.patches.push(heap.alloc(MAX_PARTS * SLOT_BYTES));
    const patch = this.patches[this.patchesUsed++];
    memory.copy(patch, this.open, this.openBytes);
    this.open = patch;
  }

  private commit(): void {
    const records = this.records;
    const counts = this.counts;
    const kind = this.openMeta & 0xff;
    const parts = this.openMeta >> 12;
    if (parts < <u32>load<u8>(this.minParts + kind)) {
      counts.tooShort += 1;
      return;
    }
    let tick = ticksFrom(load<u64>(this.open));
    if (!this.isPossible(kind, tick)) {
      counts.impossible += 1;
      return;
    }
    if (tick < 0) {
      counts.early += 1;
      tick = 0;
    }
    if (this.openPosition > this.covered) this.addHole(tick);
    this.covered = this.expected;
    unchecked(this.kinds[kind]++);
    counts.records += 1;
    this.lastTick = counts.lastTick = tick;
    const row = records.length++;
    unchecked((records.slot[row] = this.open));
    unchecked((records.kind[row] = <u8>kind));
    unchecked((records.parts[row] = <u8>parts));
    unchecked((records.tick[row] = tick));
    unchecked((records.position[row] = this.openPosition));
    if (kind == Kind.Fold && this.folds.length > 0) this.findFold(row);
  }

  /** One tick far away would stretch the whole trace, and delay all later records in the merged order. */
  private isPossible(kind: u32, tick: f64): bool {
    const farthest = file().farthest;
    if (abs(tick) > farthest) return false;
    if (kind == Kind.ClockSample) return tick >= 0;
    if (kind != Kind.Fold) return true;
    const last = ticksFrom(load<u64>(this.open, SLOT_BYTES));
    return abs(last) <= farthest && load<u32>(this.open, SLOT_BYTES + 12) == 0;
  }

  private addHole(tick: f64): void {
    const hole = changetype<Hole>(this.holes + usize(this.holeCount++) * offsetof<Hole>());
    hole.from = this.covered;
    hole.end = this.openPosition;
    hole.after = this.lastTick;
    hole.before = tick;
  }

  private findFold(row: i32): void {
    for (let i = 0; i < this.folds.length; i++) {
      const fold = this.folds[i];
      if (
        fold.handle == this.records.word1(row) &&
        fold.state == this.records.comm(row) &&
        fold.lastTick == max<f64>(0, ticksFrom(this.records.more(row, 1, 0)))
      )
        fold.isRecorded = true;
    }
  }
}

/** Relative to the start of the recording; exact within the farthest tick. */
export function ticksFrom(raw: u64): f64 {
  const base = file().tickBase;
  return raw >= base ? <f64>(raw - base) : -(<f64>(base - raw));
}
