/**
 * Draws the events of a foreign file as a block of the trace: a group beside NCCL in its rank's process, a track per thread and stream, further
 * lanes for slices that overlap. What cannot be drawn is counted.
 */

import type { BlockCounts } from '../../kernel/host/drawn_rows.js';
import { setImmediate } from 'node:timers/promises';
import { Interrupted } from '../../base/errors.js';
import { addBigint, addWord, HASH_SEED } from '../../base/hash.js';
import type { TraceNs } from '../../base/time.js';
import { MOST_ARROWS } from '../../kernel/host/drawing.js';
import { BlockWriter, type BlockPosition, type Output } from '../../trace/perfetto/block_writer.js';
import { laneName } from '../../trace/tracks/lanes.js';
import type { Windows } from '../../trace/tracks/selection.js';
import type { ArgValue, SliceExtra, SliceRef, TrackRef } from '../../trace/tracks/sink.js';
import type { Admitted } from './door.js';
import type { ForeignTrace, ForeignTrack } from './foreign_trace.js';
import { digitsOf, type Json } from './json_values.js';

export interface ForeignBlock extends BlockPosition {
  readonly traceStart: bigint;
  readonly windows: Windows | null;
  readonly output: Output;
  /** How many files were drawn beside this rank before. */
  readonly number: number;
  /** For the group's description. */
  readonly from: string;
}

export interface DrawnForeign {
  readonly counts: BlockCounts;
  /** If everything is drawn: arrows inside of the file, and to our works, which are drawn, too. */
  readonly arrows: number;
  /** If a part is drawn: the ends that are in it. */
  readonly flowEnds: BigUint64Array | null;
  /** How often something was not drawn, by what it was. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** Lanes of a thread, and slices in each other: the importer keeps no more than 512. */
const MOST_LANES = 64;
const DEEPEST = 500;
/** Different texts of arguments, and their characters: they are kept until the block is written. */
const MOST_TEXTS = 200_000;
const MOST_CHARACTERS = 64e6;

/** Throws Interrupted. */
export function drawForeign(
  trace: ForeignTrace,
  admitted: Admitted,
  block: ForeignBlock,
  interrupt: AbortSignal | undefined,
): Promise<DrawnForeign> {
  return new Picture(trace, admitted, block, interrupt).draw();
}

/** Events between two looks at signals. */
const AT_ONCE = 1 << 14;

interface OpenSlice {
  readonly slice: SliceRef;
  readonly end: TraceNs;
}

interface Lane {
  readonly track: TrackRef;
  readonly open: OpenSlice[];
}

class Picture {
  private readonly writer: BlockWriter;
  private readonly texts = new Set<string>();
  private characters = 0;
  /** Ids of ends inside of the file, and how many ends of arrows to our works are drawn. */
  private readonly ownEnds: number[] = [];
  private workEnds = 0;
  private events = 0;
  private readonly leftOut: Map<string, number>;

  constructor(
    private readonly trace: ForeignTrace,
    private readonly admitted: Admitted,
    private readonly block: ForeignBlock,
    private readonly interrupt: AbortSignal | undefined,
  ) {
    this.leftOut = new Map(trace.leftOut);
    const { number, from } = block;
    this.writer = new BlockWriter({
      ...block,
      process: {
        rankBlock: admitted.file,
        name: laneName(trace.tool, number),
        order: 1 + number,
        description: `What ${trace.tool} recorded of this rank, from ${from}, on this trace's axis.`,
      },
    });
  }

  async draw(): Promise<DrawnForeign> {
    const { trace, writer } = this;
    const tracks = trace.tracks.map((track, number) => ({ ...track, number }));
    for (const track of tracks.sort((a, b) => a.order - b.order)) {
      const rows = trace.events.ordered(track.number);
      if (track.kind === 'counter') this.drawCounter(track, rows);
      else await this.drawThread(track, rows);
    }
    const unplaced = trace.arrows.paired - this.ownEnds.length;
    if (unplaced > 0) this.leave('arrow ends where no slice begins', unplaced);
    writer.finishPart();
    const flowEnds = this.block.windows && writer.part().flowEnds;
    writer.close();
    return { counts: writer.counts(), arrows: this.countArrows(), flowEnds, leftOut: this.leftOut };
  }

  private drawCounter({ title, order }: ForeignTrack, rows: Uint32Array): void {
    const { writer, trace } = this;
    const track = writer.describe({
      kind: 'counter',
      name: title,
      rank: order * MOST_LANES,
      unit: 'value',
      detail: 'coll',
    });
    for (const row of rows) {
      const at = this.timeOf(row);
      if (at !== null) writer.counter(track, at, Number(trace.events.text(row)));
    }
  }

  private async drawThread(
    { title, order, number }: ForeignTrack & { number: number },
    rows: Uint32Array,
  ): Promise<void> {
    const { trace } = this;
    const lanes: Lane[] = [];
    const laneAt = (lane: number): Lane =>
      (lanes[lane] ??= {
        track: this.writer.describe({
          kind: 'slices',
          name: laneName(title, lane),
          rank: order * MOST_LANES + lane,
          detail: 'coll',
        }),
        open: [],
      });
    for (const [i, row] of rows.entries()) {
      if (++this.events % AT_ONCE === 0) await this.breathe();
      const at = this.timeOf(row);
      if (at === null) continue;
      const start = trace.events.start(row);
      const duration = trace.events.duration(row);
      const isLast = i + 1 === rows.length || trace.events.start(rows[i + 1]!) !== start;
      const end = Number.isNaN(duration) ? at : this.admitted.time(start + duration);
      const lane = this.free(laneAt, at, end);
      if (lane === null) {
        this.leave(`slices that overlap ${MOST_LANES} others`);
        continue;
      }
      const args: [string, ArgValue][] = [];
      const name = trace.shown(JSON.parse(trace.events.text(row)), (arg, value) => {
        this.addArgument(args, arg, argOf(value as Json));
      });
      const extra = { args, arrows: this.arrowsOf(row, isLast ? trace.arrows.of(number, start) : []) };
      const shown = this.isNew(name) ? name || '(no name)' : '(one more name)';
      if (Number.isNaN(duration)) this.writer.instant(lane.track, at, shown, extra);
      else lane.open.push({ slice: this.writer.begin(lane.track, at, shown, extra), end });
    }
    for (const lane of lanes) this.endUntil(lane, Infinity);
  }

  /** The first lane on which the slice lies inside of all that are open. */
  private free(laneAt: (lane: number) => Lane, at: TraceNs, end: TraceNs): Lane | null {
    for (let number = 0; number < MOST_LANES; number++) {
      const lane = laneAt(number);
      this.endUntil(lane, at);
      const around = lane.open.at(-1);
      if (around === undefined || (end <= around.end && lane.open.length < DEEPEST)) return lane;
    }
    return null;
  }

  private endUntil({ track, open }: Lane, at: number): void {
    for (let last = open.at(-1); last !== undefined && last.end <= at; last = open.at(-1)) {
      this.writer.end(track, last.end, last.slice);
      open.pop();
    }
  }

  private timeOf(row: number): TraceNs | null {
    const at = this.admitted.time(this.trace.events.start(row));
    if (at >= 0) return at;
    this.leave('events before the begin of the trace');
    return null;
  }

  private arrowsOf(row: number, own: readonly number[]): SliceExtra['arrows'] {
    const work = this.admitted.arrows.get(row);
    const placed = own.slice(0, MOST_ARROWS - 1);
    for (const id of placed) this.ownEnds.push(id);
    if (work !== undefined) this.workEnds++;
    return [...(work === undefined ? [] : [work]), ...placed.map((id) => this.arrowId(id))];
  }

  private addArgument(args: [string, ArgValue][], name: string, value: ArgValue): void {
    if (this.isNew(name) && (typeof value !== 'string' || this.isNew(value)))
      args.push([name || '(no name)', value]);
    else this.leave('arguments, because their texts would take too much memory');
  }

  /** Ids of other files and of our transfers are different. */
  private arrowId(id: number): bigint {
    const hash = addWord(addBigint(HASH_SEED, BigInt(id)), this.block.blockIndex);
    return (BigInt(hash.hi) << 32n) | BigInt(hash.lo);
  }

  private countArrows(): number {
    const ids = Float64Array.from(this.ownEnds).sort();
    return this.workEnds + ids.filter((id, i) => i > 0 && id === ids[i - 1]).length;
  }

  private async breathe(): Promise<void> {
    await setImmediate();
    if (this.interrupt?.aborted) throw new Interrupted('interrupted', String(this.interrupt.reason));
  }

  /** Whether there is room for a text. */
  private isNew(text: string): boolean {
    if (this.texts.has(text)) return true;
    if (this.texts.size >= MOST_TEXTS || this.characters + text.length > MOST_CHARACTERS) return false;
    this.texts.add(text);
    this.characters += text.length;
    return true;
  }

  private leave(what: string, times = 1): void {
    this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + times);
  }
}

/** Lists and objects as JSON. */
function argOf(value: Json): ArgValue {
  const digits = digitsOf(value);
  if (digits !== null) return exactArg(digits);
  if (typeof value === 'number') {
    const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
    return isExact && !Object.is(value, -0) ? value : String(value);
  }
  return typeof value === 'string' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value).replaceAll('\\u0000', '');
}

function exactArg(digits: string): ArgValue {
  if (/^-?\d+$/.test(digits)) {
    const whole = BigInt(digits);
    return whole < 1n << 64n && whole >= -(1n << 63n) ? whole : digits;
  }
  const value = Number(digits);
  return Number.isFinite(value) && !Number.isInteger(value) ? value : digits;
}
