/**
 * Reads a trace of PyTorch's profiler (Kineto's JSON). Its dialects: `ts` in whole microseconds since 1970; the same with three decimals, which
 * a double would round; and since 2024 microseconds from `baseTimeNanoseconds`, which is a date weeks before the trace and stands behind the
 * events. Thread ids may be text, or negative numbers, which are unsigned ones of 32 bits.
 */

import { addText, HASH_SEED, toSafeInteger } from '../../base/hash.js';
import { Names } from '../../base/columns.js';
import type { ForeignIdentity, ForeignTrace, Numbered } from './foreign_trace.js';
import { readEvents } from './json_events.js';
import { digitsOf, type Json, type JsonObject } from './json_values.js';
import { Refusal } from './refusal.js';
import { spanOf, TraceBuilder } from './trace_builder.js';

/** µs: an earlier `ts` (before September 2001) counts from `baseTimeNanoseconds`. */
const ABSOLUTE_US = 1e15;
/** The call of a collective, as PyTorch records it on the CPU. */
const CALL = 'record_param_comms';

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
  readonly pid: string;
  readonly tid: string;
  /** Name of a counter; null: a track of slices. */
  readonly series: string | null;
}

class KinetoReader {
  private readonly made: TraceBuilder;
  private readonly tracks = new Map<string, Track>();
  /** By process, or process and thread. */
  private readonly labels = new Map<string, string>();
  private readonly threadNames = new Map<string, string>();
  private readonly order = new Map<string, number>();
  private readonly categories = new Names();
  private readonly members = new Map<string, Json>();

  constructor(
    private readonly path: string,
    sideFile: string,
  ) {
    this.made = new TraceBuilder(sideFile);
  }

  close(): void {
    this.made.close();
  }

  readonly member = (name: string, value: Json): void => {
    this.members.set(name, value);
  };

  readonly event = (event: Json, text: string): void => {
    if (!isObject(event)) {
      this.leave('values that are no events');
      return;
    }
    switch (event.ph) {
      case 'X':
        this.slice(event, text);
        return;
      case 'i':
      case 'I':
        this.add(event, NaN, text);
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
    const { members, made } = this;
    return {
      tool: 'PyTorch',
      shown,
      origin: this.origin(members.get('baseTimeNanoseconds')),
      says: identityOf(members.get('distributedInfo'), members.get('host_name')),
      // GPUs after threads, as the file orders its processes; counters last.
      ...made.finish((key) => {
        const track = this.tracks.get(key)!;
        const { pid, tid, series } = track;
        return {
          title: this.titleOf(track),
          kind: series === null ? 'slices' : 'counter',
          at: [series === null ? 0 : 1, this.order.get(pid) ?? 0, this.order.get(`${pid}\0${tid}`) ?? 0],
        };
      }),
    };
  }

  private slice(event: JsonObject, text: string): void {
    const duration = spanOf(timeNs(event.dur));
    if (duration === null) {
      this.leave('slices without a duration');
      return;
    }
    const row = this.add(event, duration, text);
    if (row === null) return;
    const { cat, name } = event;
    const launch = isObject(event.args) ? (event.args['External id'] ?? event.args.correlation) : undefined;
    const numbered = numberedIn(event.args);
    if (isKernel(cat)) this.made.addKernel(row, textOf(name), duration, launch, numbered);
    // The GPU has an event of the same name, which lasts while its kernels run.
    else if (cat === 'user_annotation') this.made.addStep(row, textOf(name), duration);
    else if (name === CALL && launch !== undefined) this.made.addCall(launch, row, numbered);
  }

  private add(event: JsonObject, duration: number, text: string): number | null {
    const at = this.timeOf(event);
    const track = at === null ? null : this.trackOf(event.pid, event.tid, null);
    if (at === null || track === null) return null;
    if (isOnGpu(event.cat)) this.made.addGpuTrack(track);
    return this.made.add(track, at, duration, text);
  }

  private counters(event: JsonObject): void {
    const at = this.timeOf(event);
    if (at === null) return;
    for (const [key, given] of Object.entries(isObject(event.args) ? event.args : {})) {
      const value = Number(digitsOf(given) ?? (typeof given === 'number' ? given : NaN));
      const name = textOf(event.name);
      const track = Number.isFinite(value)
        ? this.trackOf(event.pid, '', key === name ? name : `${name} ${key}`)
        : null;
      if (track === null) this.leave('counter values that are no numbers');
      else this.made.addSample(track, at, value);
    }
  }

  /** Some versions of PyTorch write 0 where they know no time. */
  private timeOf({ ts }: JsonObject): number | null {
    const ns = timeNs(ts);
    return this.made.timeOf(ns === 0 ? null : ns);
  }

  private arrowEnd(event: JsonObject): void {
    const { pid, tid, cat, id, ph } = event;
    const at = this.timeOf(event);
    const track = at === null ? null : this.trackOf(pid, tid, null);
    if (at === null || track === null) return;
    const hash = toSafeInteger(addText(HASH_SEED, `${this.categories.number(textOf(cat))} ${textOf(id)}`));
    this.made.arrows.add(track, at, Math.floor(hash / 4), ph === 'f');
  }

  private label({ name, pid, tid, args }: JsonObject): void {
    if (!isObject(args)) return;
    const thread = keyOf(pid, tid);
    if (name === 'thread_name') this.threadNames.set(thread, textOf(args.name).trim());
    else if (name === 'process_labels') this.labels.set(textOf(pid), textOf(args.labels));
    else if (name === 'thread_sort_index') this.order.set(thread, Number(args.sort_index));
    else if (name === 'process_sort_index') this.order.set(textOf(pid), Number(args.sort_index));
  }

  private trackOf(pid: Json | undefined, tid: Json | undefined, series: string | null): number | null {
    const key = series === null ? keyOf(pid, tid) : `${keyOf(pid, tid)}\0${series}`;
    const track = this.made.track(key);
    if (track !== null && !this.tracks.has(key))
      this.tracks.set(key, { pid: textOf(pid), tid: threadText(tid), series });
    return track;
  }

  private titleOf({ pid, tid, series }: Track): string {
    const label = this.labels.get(pid);
    const process = label === undefined || label === 'CPU' ? '' : `${label} `;
    if (series !== null) return `${process}${series}`;
    if (!/^\d+$/.test(tid)) return tid || pid || 'unnamed';
    return `${process}${this.threadNames.get(`${pid}\0${tid}`) ?? `thread ${tid}`}`;
  }

  private origin(base: Json | undefined): bigint {
    const { path } = this;
    const { first } = this.made;
    if (first === null || this.made.isEmpty)
      throw new Refusal('not-a-trace', { path, what: 'the file has no events', advice: 'export it again' });
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

  private leave(what: string): void {
    this.made.leave(what);
  }
}

/** An event is stored as it stands in the file. */
const shown: ForeignTrace['shown'] = (event, argument) => {
  const { name, cat, args } = event as JsonObject;
  if (cat !== undefined) argument('cat', cat);
  if (isObject(args)) for (const key of Object.keys(args)) argument(key, args[key]);
  return textOf(name);
};

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

function identityOf(info: Json | undefined, host: Json | undefined): ForeignIdentity {
  const number = (value: Json | undefined): number | null =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
  const { rank, world_size: worldSize } = isObject(info) ? info : {};
  const hostName = typeof host === 'string' ? host : null;
  return { rank: number(rank), worldSize: number(worldSize), host: hostName, pid: null };
}

/** Newer files have both. `Comms Id` is a number of 64 bits, so it is kept as text. */
function numberedIn(args: Json | undefined): Numbered | null {
  if (!isObject(args)) return null;
  const { Seq: seq, 'Comms Id': id, 'Process Group Name': group } = args;
  if (seq === undefined && id === undefined) return null;
  return {
    group: textOf(group),
    seq: typeof seq === 'number' && Number.isInteger(seq) && seq >= 0 ? seq : null,
    id: id === undefined || textOf(id) === '' ? null : textOf(id),
  };
}

const isKernel = (cat: Json | undefined): boolean => cat === 'kernel' || cat === 'Kernel';

/** Kernels, gpu_memcpy, gpu_memset, gpu_user_annotation. */
const isOnGpu = (cat: Json | undefined): boolean =>
  isKernel(cat) || (typeof cat === 'string' && cat.startsWith('gpu_'));

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
