/**
 * Collectives and send/receives: one slice from enqueueing to the end of the last child, in lanes per communicator.
 *
 *   complete          start ─────────── last child's end
 *   open              start ─────────── ... (left open: it hung, or the recording ended)
 *   not recorded      start ── enqueued, argument `completion` says why the end is unknown
 */

import type { TraceNs } from '../base/time.js';
import type { Work } from '../model/types.js';
import type { WorkEnd } from '../model/work_end.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import type { DueEnds } from './due_ends.js';
import { workCorrelation } from './identity.js';
import { Lanes, laneName } from './lanes.js';
import type { Args, ArgValue, SliceRef, TrackRef } from './sink.js';

const COMPLETION: Readonly<Record<WorkEnd['outcome'], string | null>> = {
  complete: null,
  open: null,
  'no-children': 'enqueued, completion not recorded',
  'outside-window': 'enqueued, completion overwritten in the ring',
};

interface OpenWork {
  readonly track: TrackRef;
  readonly slice: SliceRef;
  readonly lanes: Lanes<TrackRef>;
  readonly lane: number;
}

export class WorkTracks {
  private readonly lanes = new Map<string, Lanes<TrackRef>>();
  /** Work whose slice ends with its stop callback. */
  private readonly untilEnqueued = new Map<number, OpenWork>();

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
    private readonly dueEnds: DueEnds,
  ) {}

  start(work: Work, at: TraceNs): void {
    const { sink } = this.context;
    const end = this.context.workEnd(work.row);
    const lanes = this.lanesOf(work);
    const lane = lanes.acquire();
    const track = lanes.track(lane);
    const slice = sink.begin(track, at, work.func, {
      args: workArgs(work, COMPLETION[end.outcome]),
      correlation: workCorrelation(work),
    });
    const open = { track, slice, lanes, lane };
    if (end.outcome === 'complete') {
      this.dueEnds.schedule(this.completion(end, at), (due) => {
        this.close(open, due);
      });
    } else if (end.outcome !== 'open') {
      this.untilEnqueued.set(work.row, open);
    }
  }

  enqueued(work: Work, at: TraceNs): void {
    const open = this.untilEnqueued.get(work.row);
    if (!open) return;
    this.untilEnqueued.delete(work.row);
    this.close(open, at);
  }

  private close({ track, slice, lanes, lane }: OpenWork, at: TraceNs): void {
    this.context.sink.end(track, at, slice);
    lanes.release(lane);
  }

  /** A kernel's end counts by the GPU's clock where that is known, else when it was noticed. Never before the start. */
  private completion(end: WorkEnd, start: TraceNs): TraceNs {
    const { time, gpuTime } = this.context;
    const ends: TraceNs[] = [start];
    if (end.lastOp !== null) ends.push(time(end.lastOp));
    if (end.lastKernel) {
      const { gpu, noticed } = end.lastKernel;
      ends.push(gpu !== null && gpuTime ? earlier(gpuTime(gpu), time(noticed)) : time(noticed));
    }
    return ends.reduce((a, b) => (b > a ? b : a));
  }

  private lanesOf(work: Work): Lanes<TrackRef> {
    const name = work.kind === 'Coll' ? 'collectives' : 'point-to-point';
    const key = `${work.comm?.number ?? 'unknown'} ${name}`;
    let lanes = this.lanes.get(key);
    if (!lanes) {
      lanes = new Lanes((lane) =>
        this.context.sink.describe({
          kind: 'slices',
          name: laneName(name, lane),
          parent: this.groups.group(work.comm),
          rank: (work.kind === 'Coll' ? COMM_ORDER.collectives : COMM_ORDER.pointToPoint) + lane,
          description: DESCRIPTION,
        }),
      );
      this.lanes.set(key, lanes);
    }
    return lanes;
  }
}

const DESCRIPTION =
  'From enqueueing on the host to the end of the last proxy operation or kernel channel that belongs to it. ' +
  'Left open: not finished when the recording ended. Overlapping ones lie in further lanes (·2, ·3).';

function earlier(a: TraceNs, b: TraceNs): TraceNs {
  return a < b ? a : b;
}

function workArgs(work: Work, completion: string | null): Args {
  const args: [string, ArgValue][] = [];
  if (work.seq !== null) args.push(['seq', work.seq]);
  if (work.ordinal > 0) args.push([work.kind === 'Coll' ? 'replay' : 'ordinal', work.ordinal]);
  if (work.peer !== null) args.push(['peer', work.peer]);
  args.push(['count', work.count], ['datatype', work.datatype]);
  if (work.algo !== '') args.push(['algo', work.algo], ['proto', work.proto]);
  if (work.root !== null) args.push(['root', work.root]);
  args.push(['channels', work.nChannels]);
  if (work.userTag !== 0n) args.push(['userTag', work.userTag]);
  if (work.api?.graphCaptured) args.push(['graph', true]);
  if (completion !== null) args.push(['completion', completion]);
  return args;
}
