/**
 * Collectives and send/receives: one slice from enqueueing to the end of the last child, in lanes per communicator.
 *
 *   complete          start ─────────── last child's end
 *   open              start ─────────── ... (left open: it hung, or the recording ended)
 *   not recorded      start ── enqueued, argument `completion` says why the end is unknown
 */

import type { TraceNs } from '../../base/time.js';
import { hasRoot, type Work } from '../../model/types.js';
import { kernelsEnd, type WorkEnd } from '../../model/work_end.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import type { DueEnds } from './due_ends.js';
import { workCorrelation } from '../../model/identity.js';
import type { InFlight } from './in_flight.js';
import { Lanes, laneName } from './lanes.js';
import { parentText } from './parent_text.js';
import { rankName, titleOf } from './rank_names.js';
import type { Args, ArgValue, SliceRef, TrackRef } from './sink.js';

const COMPLETION: Readonly<Record<WorkEnd['outcome'], string | null>> = {
  complete: null,
  open: null,
  aborted: 'not finished when the communicator was finalized',
  'no-children': 'enqueued, completion not recorded',
  endless: 'enqueued, end not reported by NCCL (CollNet or memcpy)',
  'outside-window': 'enqueued, completion overwritten in the ring',
  'end-lost': 'enqueued, completion among lost records',
  'not-read': 'enqueued, completion in a part that was not read',
};

/** Why work has no children, if known. */
function completion(work: Work, { outcome }: WorkEnd): string | null {
  if (outcome !== 'no-children') return COMPLETION[outcome];
  if (work.peer !== null && work.peer === work.comm?.rank) return 'to itself, completion not recorded';
  return work.api?.graphCaptured ? 'part of a captured graph, completion not recorded' : COMPLETION[outcome];
}

type WorkLanes = Lanes<TrackRef>;

interface OpenWork {
  readonly track: TrackRef;
  readonly slice: SliceRef;
  readonly lanes: Lanes<TrackRef>;
  readonly lane: number;
}

export class WorkTracks {
  private readonly lanes = {
    Coll: new Map<Work['comm'], WorkLanes>(),
    P2p: new Map<Work['comm'], WorkLanes>(),
  };
  /** Work whose slice ends at its stop callback. */
  private readonly untilEnqueued = new Map<number, OpenWork>();

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
    private readonly dueEnds: DueEnds,
    private readonly inFlight: InFlight,
  ) {}

  start(work: Work, at: TraceNs): void {
    const { sink } = this.context;
    const end = this.context.workEnd(work.row);
    const lanes = this.lanesOf(work);
    const lane = lanes.acquire();
    const track = lanes.track(lane);
    const slice = sink.begin(track, at, work.func, {
      args: workArgs(work, end),
      correlation: workCorrelation(work),
    });
    this.inFlight.workStarted(at);
    const open = { track, slice, lanes, lane };
    if (end.outcome === 'complete' || end.outcome === 'aborted') {
      this.dueEnds.schedule(this.completion(work, end, at), (due) => {
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
    this.inFlight.workEnded(at);
    lanes.release(lane);
  }

  /** Never before the start. */
  private completion(work: Work, end: WorkEnd, start: TraceNs): TraceNs {
    const { time } = this.context;
    let last = start;
    if (end.lastOp !== null) last = later(last, time(end.lastOp));
    if (end.lastKernel) last = later(last, this.kernelsEnd(work, end.lastKernel));
    if (end.finalized !== null) last = later(last, time(end.finalized));
    return later(last, end.elsewhere?.lastEnd ?? last);
  }

  private kernelsEnd(work: Work, { stamps, noticed }: NonNullable<WorkEnd['lastKernel']>): TraceNs {
    const { time } = this.context;
    const gpuTime = this.context.gpuTime(work.comm);
    const stamped = stamps && gpuTime && { first: gpuTime(stamps.first), last: gpuTime(stamps.last) };
    return kernelsEnd(stamped, time(work.earliest), time(noticed));
  }

  private lanesOf(work: Work): Lanes<TrackRef> {
    const byComm = this.lanes[work.kind];
    let lanes = byComm.get(work.comm);
    if (!lanes) {
      const name = work.kind === 'Coll' ? 'collectives' : 'point-to-point';
      const title = titleOf(rankName(this.context.names, work.comm), name);
      lanes = new Lanes((lane) =>
        this.context.sink.describe({
          kind: 'slices',
          detail: 'coll',
          name: laneName(title, lane),
          parent: this.groups.group(work.comm),
          rank: (work.kind === 'Coll' ? COMM_ORDER.collectives : COMM_ORDER.pointToPoint) + lane,
          description: DESCRIPTION,
        }),
      );
      byComm.set(work.comm, lanes);
    }
    return lanes;
  }
}

const DESCRIPTION =
  'From enqueueing on the host to the end of the last proxy operation or kernel channel of this work. A ' +
  'slice stays open if the work had not finished when the recording ended. If slices overlap, there are ' +
  'further lanes (·2, ·3).';

function workArgs(work: Work, end: WorkEnd): Args {
  const args: [string, ArgValue][] = [];
  const isGraph = work.api?.graphCaptured ?? false;
  if (work.seq !== null) args.push(['seq', work.seq]);
  if (work.ordinal > 0 || isGraph) args.push([ordinalName(work), work.ordinal]);
  if (!work.ordinalAbsolute) args.push(['ordinalAbsolute', false]);
  if (work.peer !== null) args.push(['peer', work.peer]);
  args.push(['count', work.count], ['datatype', work.datatype]);
  if (work.algo !== '') args.push(['algo', work.algo]);
  if (work.proto !== '') args.push(['proto', work.proto]);
  if (work.kernelVariant !== '') args.push(['kernelVariant', work.kernelVariant]);
  if (work.isSymmetric) args.push(['symmetric', true]);
  if (work.root !== null && hasRoot(work.func)) args.push(['root', work.root]);
  args.push(['channels', work.nChannels]);
  if (work.nWarps !== null) args.push(['warps', work.nWarps]);
  if (work.userTag !== 0n) args.push(['userTag', work.userTag]);
  if (isGraph) args.push(['graph', true]);
  const parent = parentText(work.parent);
  if (parent !== null) args.push(['parent', parent]);
  if (end.elsewhere) {
    const { executors, ops } = end.elsewhere;
    args.push(['executedBy', executors.join(', ')], ['pxnOps', ops]);
  }
  const text = completion(work, end);
  if (text !== null) args.push(['completion', text]);
  return args;
}

const later = (a: TraceNs, b: TraceNs): TraceNs => (b > a ? b : a);

/** A collective with a repeated number is a replay, unless its call shows that there is no graph. */
function ordinalName({ kind, api }: Work): string {
  return kind === 'Coll' && (api === null || api.graphCaptured) ? 'replay' : 'ordinal';
}
