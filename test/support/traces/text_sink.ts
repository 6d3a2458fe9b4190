/**
 * A TrackSink that writes lines a person can review. It also checks that its caller keeps the rules of src/trace/tracks/sink.ts:
 *
 *   1000 [collectives] begin AllReduce seq=3 #77
 *   2000 [collectives] end AllReduce
 *
 * A track is named by its path, without the rank that begins each name. A flow is named by a short number, in order of first use.
 */

import type { TraceNs } from '../../../src/base/time.js';
import type {
  Args,
  FlowId,
  SliceExtra,
  SliceRef,
  TrackRef,
  TrackSink,
  TrackSpec,
} from '../../../src/trace/tracks/sink.js';

interface Open {
  readonly ref: SliceRef;
  readonly name: string;
}

export class TextSink implements TrackSink {
  readonly lines: string[] = [];
  readonly specs: TrackSpec[] = [];
  /** Correlation ids of slices and instants, in order. */
  readonly correlations: number[] = [];
  private readonly open: (Open[] | undefined)[] = [];
  private readonly lastAt: number[] = [];
  private readonly states: (string | null)[] = [];
  private readonly flows = new Map<string, number>();
  private slices = 0;

  describe(spec: TrackSpec): TrackRef {
    this.specs.push(spec);
    return (this.specs.length - 1) as TrackRef;
  }

  begin(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    const ref = this.slices++ as SliceRef;
    (this.open[track] ??= []).push({ ref, name });
    this.line(track, at, `begin ${name}${this.extras(extra)}`);
    return ref;
  }

  end(track: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    const top = (this.open[track] ??= []).pop();
    if (top?.ref !== slice)
      throw new Error(`end of a slice that is not the innermost on ${this.path(track)}`);
    this.line(track, at, `end ${top.name}${this.extras(extra)}`);
  }

  instant(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.line(track, at, `instant ${name}${this.extras(extra)}`);
  }

  counter(track: TrackRef, at: TraceNs, value: number): void {
    this.line(track, at, `= ${Number(value.toPrecision(6))}`);
  }

  state(track: TrackRef, at: TraceNs, name: string | null): void {
    if ((this.states[track] ?? null) === name) return;
    this.states[track] = name;
    this.line(track, at, `state ${name ?? '-'}`);
  }

  /** Open slices, as "[path] name". */
  openSlices(): string[] {
    return this.open.flatMap((stack = [], track) =>
      stack.map(({ name }) => `[${this.path(track as TrackRef)}] ${name}`),
    );
  }

  /** Lines of the tracks whose path matches. */
  of(pattern: RegExp): string[] {
    return this.lines.filter((line) => pattern.test(/\[(.*?)\]/.exec(line)?.[1] ?? ''));
  }

  private line(track: TrackRef, at: TraceNs, text: string): void {
    if (at < (this.lastAt[track] ?? 0)) throw new Error(`time goes back on ${this.path(track)} at ${at}`);
    if (!Number.isSafeInteger(at)) throw new Error(`${at} is no whole number of ns`);
    this.lastAt[track] = at;
    this.lines.push(`${at} [${this.path(track)}] ${text}`);
  }

  private path(track: TrackRef): string {
    const spec = this.specs[track];
    if (!spec) throw new Error(`track ${track} was never described`);
    const name = spec.name.replace(/^(comm )?ranks? \S+ · /, '');
    return spec.parent === undefined ? name : `${this.path(spec.parent)} / ${name}`;
  }

  private extras(extra: SliceExtra | undefined): string {
    if (extra?.correlation !== undefined) this.correlations.push(extra.correlation);
    return argText(extra?.args) + (extra?.flow ? ` flow=${this.flowNumber(extra.flow)}` : '');
  }

  private flowNumber({ hi, lo }: FlowId): number {
    const key = `${hi} ${lo}`;
    if (!this.flows.has(key)) this.flows.set(key, this.flows.size + 1);
    return this.flows.get(key)!;
  }
}

function argText(args: Args | undefined): string {
  return (args ?? []).map(([name, value]) => ` ${name}=${String(value)}`).join('');
}
