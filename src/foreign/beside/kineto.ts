/**
 * Reads a trace of PyTorch's profiler (Kineto's JSON). Its dialects: `ts` in whole microseconds since 1970; the same with three decimals, which
 * a double would round; and since 2024 microseconds from `baseTimeNanoseconds`, which is a date weeks before the trace and stands behind the
 * events. Thread ids may be text, or negative numbers, which are unsigned ones of 32 bits.
 */

import { addText, HASH_SEED, toSafeInteger } from '../../base/hash.js';
import { Names } from '../../base/columns.js';
import { ArrowEnds, EventStore } from './event_store.js';
import type { EventText, ForeignIdentity, ForeignTrace, ForeignTrack, NcclKernel } from './foreign_trace.js';
import { digitsOf, readEvents, type Json, type JsonObject } from './json_events.js';
import { kernelName } from './kernel_names.js';
import { Refusal } from './refusal.js';

/** µs: an earlier `ts` (before September 2001) counts from `baseTimeNanoseconds`. */
const ABSOLUTE_US = 1e15;
/** ns from the first event of a file: farther than any job runs, and exact in a double. */
const FARTHEST = 2 ** 51;
/** The call of a collective, as PyTorch records it on the CPU. */
const CALL = 'record_param_comms';
const MOST_TRACKS = 100_000;

/** `sideFile`: path of a file for names and arguments. Throws Refusal, Interrupted. */
export async function readKineto(
  path: string,
  sideFile: string,
  interrupt?: AbortSignal,
): Promise<ForeignTrace> {
  const reader = new KinetoReader(path, sideFile);
  try {
    await readEvents(path, reader, interrupt);
    return reader.finish();
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** A track's place in the file: process, thread, and for counters the name. */
interface Track {
  readonly number: number;
  readonly pid: string;
  readonly tid: string;
  /** Name of a counter; null: a track of slices. */
  readonly series: string | null;
}

class KinetoReader {
  private readonly events: EventStore;
  private readonly arrows = new ArrowEnds();
  private readonly tracks = new Map<string, Track>();
  /** By process, or process and thread. */
  private readonly labels = new Map<string, string>();
  private readonly threadNames = new Map<string, string>();
  private readonly order = new Map<string, number>();
  private readonly kernels: (NcclKernel & { readonly externalId: unknown })[] = [];
  private readonly calls = new Map<unknown, number>();
  private readonly categories = new Names();
  private readonly leftOut = new Map<string, number>();
  private readonly members = new Map<string, Json>();
  /** ns of the first event as it is written; all times count from there. */
  private first: bigint | null = null;
  private firstNumber = NaN;
  private from = Infinity;
  private to = -Infinity;

  constructor(
    private readonly path: string,
    sideFile: string,
  ) {
    this.events = new EventStore(sideFile);
  }

  close(): void {
    this.events.close();
  }

  readonly member = (name: string, value: Json): void => {
    this.members.set(name, value);
  };

  readonly event = (event: Json): void => {
    if (!isObject(event)) {
      this.leave('values that are no events');
      return;
    }
    switch (event.ph) {
      case 'X':
        this.slice(event);
        return;
      case 'i':
      case 'I':
        this.add(event, NaN);
        return;
      case 'C':
        this.counters(event);
        return;
      case 's':
      case 't':
      case 'f':
        this.arrowEnd(event);
        return;
      case 'M':
        this.label(event);
        return;
      default:
        this.leave(`events of phase ${textOf(event.ph)}`);
    }
  };

  finish(): ForeignTrace {
    const { members, events, arrows, kernels, calls, leftOut, from, to } = this;
    events.finish(this.tracks.size);
    const lone = arrows.finish();
    if (lone > 0) this.leave('arrow ends without another end', lone);
    return {
      tool: 'PyTorch',
      ...{ events, arrows, leftOut },
      tracks: this.titled(),
      origin: this.origin(members.get('baseTimeNanoseconds')),
      span: { from, to },
      says: identityOf(members.get('distributedInfo'), members.get('host_name')),
      kernels: kernels
        .map(({ externalId, ...kernel }) => ({ ...kernel, call: calls.get(externalId) ?? null }))
        .sort((a, b) => a.end - b.end),
    };
  }

  private slice(event: JsonObject): void {
    const duration = spanNs(event.dur);
    if (duration === null) {
      this.leave('slices without a duration');
      return;
    }
    const row = this.add(event, duration);
    if (row === null) return;
    const { cat, name } = event;
    const externalId = isObject(event.args)
      ? (event.args['External id'] ?? event.args.correlation)
      : undefined;
    const kernel = cat === 'kernel' || cat === 'Kernel' ? kernelName(textOf(name)) : null;
    if (kernel) {
      const start = this.events.start(row);
      this.kernels.push({ row, call: null, externalId, ...kernel, start, end: start + duration });
    } else if (name === CALL && externalId !== undefined && !this.calls.has(externalId))
      this.calls.set(externalId, row);
  }

  private add(event: JsonObject, duration: number): number | null {
    const at = this.timeOf(event.ts);
    const track = at === null ? null : this.trackOf(event.pid, event.tid, null);
    if (at === null || track === null) return null;
    const { name, cat, args } = event;
    const shown = { ...(cat === undefined ? {} : { cat }), ...(isObject(args) ? args : {}) };
    const text: EventText = [textOf(name), shown];
    this.reach(at, duration);
    return this.events.add(track, at, duration, JSON.stringify(text));
  }

  private counters(event: JsonObject): void {
    const at = this.timeOf(event.ts);
    if (at === null) return;
    for (const [key, given] of Object.entries(isObject(event.args) ? event.args : {})) {
      const value = Number(digitsOf(given) ?? (typeof given === 'number' ? given : NaN));
      const name = textOf(event.name);
      const track = Number.isFinite(value)
        ? this.trackOf(event.pid, '', key === name ? name : `${name} ${key}`)
        : null;
      if (track === null) this.leave('counter values that are no numbers');
      else this.events.add(track, at, NaN, String(value));
    }
    this.reach(at, 0);
  }

  private arrowEnd({ ts, pid, tid, cat, id, ph }: JsonObject): void {
    const at = this.timeOf(ts);
    const track = at === null ? null : this.trackOf(pid, tid, null);
    if (at === null || track === null) return;
    const hash = toSafeInteger(addText(HASH_SEED, `${this.categories.number(textOf(cat))} ${textOf(id)}`));
    this.arrows.add(track, at, Math.floor(hash / 4), ph === 'f');
  }

  private label({ name, pid, tid, args }: JsonObject): void {
    if (!isObject(args)) return;
    const thread = keyOf(pid, tid);
    if (name === 'thread_name') this.threadNames.set(thread, textOf(args.name).trim());
    else if (name === 'process_labels') this.labels.set(textOf(pid), textOf(args.labels));
    else if (name === 'thread_sort_index') this.order.set(thread, Number(args.sort_index));
    else if (name === 'process_sort_index') this.order.set(textOf(pid), Number(args.sort_index));
  }

  /** ns from the first event; null: it cannot be placed, and is counted. */
  private timeOf(ts: Json | undefined): number | null {
    const ns = timeNs(ts);
    if (ns === null) {
      this.leave('events without a time');
      return null;
    }
    if (this.first === null) {
      this.first = BigInt(ns);
      this.firstNumber = Number(ns);
    }
    const at = typeof ns === 'number' ? ns - this.firstNumber : Number(ns - this.first);
    if (Math.abs(at) < FARTHEST) return at;
    this.leave('events weeks away from the first one');
    return null;
  }

  private reach(at: number, duration: number): void {
    this.from = Math.min(this.from, at);
    this.to = Math.max(this.to, at + (duration || 0));
  }

  private trackOf(pid: Json | undefined, tid: Json | undefined, series: string | null): number | null {
    const key = series === null ? keyOf(pid, tid) : `${keyOf(pid, tid)}\0${series}`;
    const known = this.tracks.get(key);
    if (known) return known.number;
    if (this.tracks.size === MOST_TRACKS) {
      this.leave(`events beyond ${MOST_TRACKS} threads`);
      return null;
    }
    const track = { number: this.tracks.size, pid: textOf(pid), tid: threadText(tid), series };
    this.tracks.set(key, track);
    return track.number;
  }

  /** GPUs after threads, as the file orders its processes; counters last. */
  private titled(): ForeignTrack[] {
    const tracks = [...this.tracks.values()];
    const place = ({ pid, tid, series }: Track): number[] => [
      series === null ? 0 : 1,
      this.order.get(pid) ?? 0,
      this.order.get(`${pid}\0${tid}`) ?? 0,
    ];
    const sorted = tracks
      .map((track) => ({ track, key: place(track) }))
      .sort(
        (a, b) => a.key.reduce((so, one, i) => so || one - b.key[i]!, 0) || a.track.number - b.track.number,
      );
    const order = new Map(sorted.map(({ track }, i) => [track, i]));
    return tracks.map((track) => ({
      title: this.titleOf(track),
      kind: track.series === null ? 'slices' : 'counter',
      order: order.get(track)!,
    }));
  }

  private titleOf({ pid, tid, series }: Track): string {
    const label = this.labels.get(pid);
    const process = label === undefined || label === 'CPU' ? '' : `${label} `;
    if (series !== null) return `${process}${series}`;
    if (!/^\d+$/.test(tid)) return tid || pid || 'unnamed';
    return `${process}${this.threadNames.get(`${pid}\0${tid}`) ?? `thread ${tid}`}`;
  }

  private origin(base: Json | undefined): bigint {
    const { first, path } = this;
    if (first === null || this.to < this.from)
      throw new Refusal('not-kineto', { path, what: 'the file has no events', advice: 'export it again' });
    if (first >= BigInt(ABSOLUTE_US) * 1000n) return first;
    const text = digitsOf(base) ?? (typeof base === 'number' ? String(base) : '');
    if (/^\d+$/.test(text)) return first + BigInt(text);
    throw new Refusal('times-unknown', {
      path,
      what: 'the file does not say from when its times count',
      expected: '"baseTimeNanoseconds", or microseconds since 1970',
      found: `a first "ts" of ${Number(first) / 1000}`,
      advice: 'export it again with a newer PyTorch',
    });
  }

  private leave(what: string, times = 1): void {
    const key = this.leftOut.size < 100 || this.leftOut.has(what) ? what : 'other events';
    this.leftOut.set(key, (this.leftOut.get(key) ?? 0) + times);
  }
}

/** Microseconds, as written, in whole ns: a bigint if a double would round them; null: no number. */
function timeNs(value: Json | undefined): number | bigint | null {
  if (typeof value === 'number')
    return value < 2 ** 53 / 1000 ? Math.round(value * 1000) : BigInt(Math.round(value)) * 1000n;
  const digits = digitsOf(value);
  if (digits === null) return null;
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits) ?? [];
  if (whole === undefined)
    return Number.isFinite(Number(digits)) ? BigInt(Math.round(Number(digits) * 1000)) : null;
  const up = Number(part[3] ?? 0) >= 5 ? 1n : 0n;
  const ns = BigInt(whole + part.slice(0, 3).padEnd(3, '0')) + up;
  return sign === '-' ? -ns : ns;
}

function spanNs(value: Json | undefined): number | null {
  const ns = Number(timeNs(value) ?? NaN);
  return ns >= 0 && ns < FARTHEST ? ns : null;
}

function identityOf(info: Json | undefined, host: Json | undefined): ForeignIdentity {
  const number = (value: Json | undefined): number | null =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
  const { rank, world_size: worldSize } = isObject(info) ? info : {};
  return { rank: number(rank), worldSize: number(worldSize), host: typeof host === 'string' ? host : null };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return digitsOf(value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** Kineto writes ids of threads beyond 2^31 as negative numbers. */
const threadText = (tid: Json | undefined): string =>
  typeof tid === 'number' && tid < 0 ? String(tid >>> 0) : textOf(tid);

const keyOf = (pid: Json | undefined, tid: Json | undefined): string => `${textOf(pid)}\0${threadText(tid)}`;
