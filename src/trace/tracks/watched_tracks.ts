/**
 * A TrackSink that watches a few tracks. It reports on which lane a slice is open, and since when, because the first screen pins and
 * selects these. If an arrow points to an open slice, the arrow ends at an instant `look here`. The open slice began before the arrow's
 * source, and the importer only draws arrows forward. This sink is directly before the writer, so it knows what is really drawn.
 */

import type { TraceNs } from '../../base/time.js';
import type { Args, FlowId, SliceExtra, SliceRef, TrackRef, TrackSink, TrackSpec } from './sink.js';
import { StepRow, StepSlices } from './step_slices.js';

/** A track with its lanes: "rank 6 · ch00 recv from 7", "… ·2". */
export interface Watch {
  /** Name of its group. */
  readonly group: string;
  readonly title: string;
  /** The arrow's end: at this time, on the step with this number, else on the oldest open one; null: none. */
  readonly arrow: { readonly flow: FlowId; readonly at: TraceNs; readonly step: number | null } | null;
}

/** null: it is not drawn. */
export type Found = FoundTrack | null;

export interface FoundTrack {
  /** The lane with an open slice, else the first one drawn. */
  readonly name: string;
  /** Begin of the open slice: the requested step, or the innermost known one; null: none. */
  readonly openSince: TraceNs | null;
  readonly hasArrow: boolean;
}

interface Open {
  readonly ref: SliceRef | null;
  readonly at: TraceNs;
  readonly step: number | null;
}

interface Watched {
  readonly watch: number;
  readonly track: TrackRef;
  readonly name: string;
  /** null: it is a lane itself; else its lane. */
  readonly lane: Watched | null;
  readonly open: Open[];
  lastAt: TraceNs;
}

export class WatchingSink implements TrackSink {
  readonly steps = new StepSlices((slices, rows) => {
    this.takeSteps(slices, rows);
  });
  private readonly specs: TrackSpec[] = [];
  private readonly watched: (Watched | undefined)[] = [];

  constructor(
    private readonly inner: TrackSink,
    private readonly watches: readonly Watch[],
  ) {}

  describe(spec: TrackSpec): TrackRef {
    const track = this.inner.describe(spec);
    this.specs[track] = spec;
    const above = spec.parent === undefined ? undefined : this.watched[spec.parent];
    const watch = above?.watch ?? this.watchOf(spec);
    if (watch >= 0) {
      const lane = above ? (above.lane ?? above) : null;
      this.watched[track] = { watch, track, name: spec.name, lane, open: [], lastAt: 0 as TraceNs };
    }
    return track;
  }

  begin(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    this.steps.flush();
    const ref = this.inner.begin(track, at, name, extra);
    this.opened(track, { ref, at, step: stepIn(extra?.args) });
    return ref;
  }

  end(track: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    this.steps.flush();
    this.inner.end(track, at, slice, extra);
    this.closed(track, at);
  }

  instant(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.steps.flush();
    this.inner.instant(track, at, name, extra);
    this.moved(track, at);
  }

  counter(track: TrackRef, at: TraceNs, value: number): void {
    this.steps.flush();
    this.inner.counter(track, at, value);
  }

  state(track: TrackRef, at: TraceNs, name: string | null): void {
    this.steps.flush();
    this.inner.state(track, at, name);
  }

  private takeSteps(slices: StepSlices, rows: number): void {
    this.inner.steps.addAll(slices, rows);
    for (let row = 0; row < rows; row++) {
      const track = slices.track[row] as TrackRef;
      const at = slices.at[row] as TraceNs;
      if (slices.what[row] === StepRow.Begin) this.opened(track, { ref: null, at, step: slices.value[row]! });
      else if (slices.what[row] === StepRow.End) this.closed(track, at);
      else this.moved(track, at);
    }
  }

  /** After the last event. By watch. */
  finish(): Found[] {
    this.steps.flush();
    return this.watches.map((watch, i) => this.found(watch, i));
  }

  private found({ arrow }: Watch, index: number): Found {
    const all = this.watched.filter((one) => one !== undefined).filter(({ watch }) => watch === index);
    const lanes = all.filter(({ lane }) => lane === null);
    if (lanes.length === 0) return null;
    const open = all.flatMap((one) => one.open.map((slice) => ({ one, ...slice })));
    const steps = open.filter(({ step }) => step !== null).sort((a, b) => a.at - b.at);
    const wanted =
      steps.find(({ step }) => step === arrow?.step) ?? steps[0] ?? open.sort((a, b) => b.at - a.at)[0];
    const lane = wanted ? (wanted.one.lane ?? wanted.one) : lanes[0]!;
    if (wanted && arrow) {
      const at = arrow.at > wanted.one.lastAt ? arrow.at : wanted.one.lastAt;
      this.inner.instant(wanted.one.track, at, 'look here', { flow: arrow.flow });
    }
    return {
      name: lane.name,
      openSince: wanted?.at ?? null,
      hasArrow: wanted !== undefined && arrow !== null,
    };
  }

  private watchOf({ name, parent }: TrackSpec): number {
    const group = parent === undefined ? undefined : this.specs[parent]?.name;
    return this.watches.findIndex(
      (watch) => watch.group === group && (name === watch.title || name.startsWith(`${watch.title} ·`)),
    );
  }

  private opened(track: TrackRef, slice: Open): void {
    this.watched[track]?.open.push(slice);
    this.moved(track, slice.at);
  }

  private closed(track: TrackRef, at: TraceNs): void {
    this.watched[track]?.open.pop();
    this.moved(track, at);
  }

  private moved(track: TrackRef, at: TraceNs): void {
    const watched = this.watched[track];
    if (watched) watched.lastAt = at;
  }
}

function stepIn(args: Args | undefined): number | null {
  const found = args?.find(([name]) => name === 'step')?.[1];
  return typeof found === 'number' ? found : null;
}
