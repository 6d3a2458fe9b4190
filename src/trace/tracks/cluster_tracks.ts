/**
 * The first screen, above all ranks: for each communicator one slice per collective or AlltoAll, from the first arrival to the last
 * completion. The slice stays open if a rank has not finished. The bus bandwidth over time is below.
 */

import { append } from '../../base/extremes.js';
import { addTo } from '../../base/grouped.js';
import { hex64 } from '../../base/hex.js';
import { foldRanks } from '../../base/ranks.js';
import type { TraceNs } from '../../base/time.js';
import { bandwidthsOf, busBandwidthSteps, type BusyTime } from '../../cluster/bandwidth.js';
import type { ClusterComm, Collective } from '../../cluster/collective_view.js';
import type { Exchange } from '../../cluster/exchanges.js';
import { commSizeText } from './comm_groups.js';
import { collectiveCorrelation } from '../../model/identity.js';
import {
  type ClusterLabels,
  commArgs,
  numberOr,
  type Operation,
  type WantedCall,
} from './cluster_operation.js';
import { exchangeOperation } from './exchange_slices.js';
import { Lanes, laneName } from './lanes.js';
import type { Args, ArgValue, SliceRef, TrackRef, TrackSink } from './sink.js';

/** The group above all ranks. `title` contains the verdict. */
export function describeCluster(sink: TrackSink, title = 'Cluster'): TrackRef {
  return sink.describe({ kind: 'group', name: title, rank: 0, description: CLUSTER });
}

/** A communicator's collectives, and its AlltoAlls of sends and receives. */
export interface DrawnComm extends ClusterComm {
  readonly exchanges: readonly Exchange[];
}

/** Returns the names of the lanes of the wanted call's communicator, that of the call first. Empty: it is not drawn. */
export function drawCluster(
  sink: TrackSink,
  cluster: TrackRef,
  comms: readonly DrawnComm[],
  labels: ClusterLabels,
  wanted: WantedCall | null = null,
): readonly string[] {
  const found = comms.map((comm, index) => {
    const place = { title: titleOf(comm), order: index * LANES_PER_COMM };
    return new CommLanes(sink, cluster, comm, place, labels).draw(
      wanted?.commId === comm.commId ? wanted : null,
    );
  });
  return found.find((lanes) => lanes.length > 0) ?? [];
}

const titleOf = ({ name, commId, nRanks }: ClusterComm): string =>
  `${name || hex64(commId)} (${commSizeText(nRanks)})`;

const CLUSTER =
  'What all ranks did together: one slice per collective, from the first arrival to the last completion. A ' +
  'slice stays open if a rank had not finished when its recording ended.';
const LANE =
  'A rank arrives when its kernel starts. If that is not recorded, the first step that its GPU filled or ' +
  'consumed counts, else the call. skewNs: first to last arrival. The bandwidths follow nccl-tests: from ' +
  'the last arrival to the completion, FromFirst: from the first arrival. late: the last rank called late ' +
  '(host call), or its GPU began late after a call in time. No rank is called late if the clocks of two ' +
  'hosts may be further apart than the skew.';
const BUSBW =
  'Bus bandwidth of this communicator, by the formulas of nccl-tests, from the last arrival to the ' +
  'completion of each collective. If several run at a time, it is their sum. Compare it with the bandwidth ' +
  'of the hardware, whatever the number of ranks is.';

/** Unfinished collectives with a lane of their own. */
const MOST_OPEN = 4;
/** Overlapping collectives that fit before the next communicator's tracks. */
const LANES_PER_COMM = 1024;
/** After the lanes. */
const BUSBW_ORDER = LANES_PER_COMM - 1;

class CommLanes {
  private readonly lanes: Lanes<TrackRef>;
  private readonly busy: BusyTime[] = [];

  constructor(
    private readonly sink: TrackSink,
    private readonly cluster: TrackRef,
    private readonly comm: DrawnComm,
    private readonly place: { readonly title: string; readonly order: number },
    private readonly labels: ClusterLabels,
  ) {
    const { title, order } = place;
    this.lanes = new Lanes((lane) =>
      sink.describe({
        kind: 'slices',
        detail: 'coll',
        name: laneName(title, lane),
        parent: cluster,
        rank: order + Math.min(lane, BUSBW_ORDER - 1),
        description: `${LANE} Communicator ${hex64(comm.commId)}.`,
      }),
    );
  }

  draw(wanted: WantedCall | null): string[] {
    const { collectives, exchanges } = this.comm;
    // Drawn in order of time, which takes fewer bytes. At one time what was told first is first: an end before the next begin of its lane.
    const drawn: [at: TraceNs, draw: () => void][] = [];
    const all = [
      ...collectives.map((one) => this.collective(one)),
      ...exchanges.map((one) => exchangeOperation(one, this.comm, this.labels)),
    ].sort((a, b) => a.from - b.from);
    const named = wanted && all.find((one) => one.isWanted(wanted));
    const [head, ...more] = queued(all, named);
    const behind = new Set(more);
    let found = 0;
    for (const one of all) {
      const { from, until } = one;
      if (one === head) drawn.push([from, this.queue([head, ...more])]);
      if (one === head || behind.has(one)) continue;
      const lane = this.lanes.acquire(from);
      if (one === named) found = lane;
      let slice: SliceRef;
      const begin = () => {
        slice = this.begin(one, lane, one === named && wanted ? wanted.args : []);
      };
      drawn.push([from, begin]);
      if (until === null) continue;
      this.lanes.release(lane, until);
      drawn.push([
        until,
        () => {
          this.sink.end(this.lanes.track(lane), until, slice);
        },
      ]);
    }
    drawn.sort(([a], [b]) => a - b);
    for (const [, draw] of drawn) draw();
    this.drawBusBandwidth();
    if (!wanted || all.length === 0) return [];
    const others = Array.from({ length: this.lanes.count }, (_, lane) => lane).filter(
      (lane) => lane !== found,
    );
    return [found, ...others].map((lane) => laneName(this.place.title, lane));
  }

  private begin({ from, name, args, correlation }: Operation, lane: number, more: Args): SliceRef {
    return this.sink.begin(this.lanes.track(lane), from, name, { args: [...args(), ...more], correlation });
  }

  private collective(one: Collective): Operation {
    const { firstArrival, func, seq, ordinal } = one;
    const isOpen = one.open.length > 0;
    return {
      ...{ from: firstArrival, until: drawnUntil(one), func, number: seq },
      name: isOpen ? `${func} ${seq}` : one.end === null ? `${func} enqueued` : func,
      args: () => this.args(one),
      correlation: collectiveCorrelation(this.comm.commId, func, seq, ordinal),
      isWanted: (wanted) => func === wanted.func && seq === wanted.seq && ordinal === wanted.ordinal,
    };
  }

  /** One slice for all. Each has its own on the tracks of its ranks. */
  private queue(waiting: readonly [Operation, ...Operation[]]): () => void {
    const at = waiting[0].from;
    const lane = this.lanes.acquire(at);
    const byFunc = new Map<string, number[]>();
    for (const { func, number } of waiting) addTo(byFunc, func, number);
    const calls = [...byFunc].map(([func, numbers]) => `${func} ${foldRanks(numbers)}`).join('; ');
    return () => {
      this.sink.begin(this.lanes.track(lane), at, `${waiting.length} more not finished`, {
        args: [['calls', calls]],
      });
    };
  }

  private drawBusBandwidth(): void {
    if (this.busy.length === 0) return;
    const track = this.sink.describe({
      kind: 'counter',
      name: `${this.place.title} busbw`,
      parent: this.cluster,
      rank: this.place.order + BUSBW_ORDER,
      unit: 'GB/s',
      description: BUSBW,
    });
    for (const { at, busbw } of busBandwidthSteps(this.busy)) this.sink.counter(track, at, round(busbw));
  }

  private args(collective: Collective): Args {
    const { seq, ordinal, arrived, open, cutOff, aborted, absent, count, datatype } = collective;
    const args = commArgs(this.comm);
    args.push(['seq', seq]);
    if (ordinal > 0) args.push(['replay', ordinal]);
    args.push(['ranks', arrived], ['count', count], ['datatype', datatype]);
    if (open.length > 0) args.push(['open', this.ranks(open)]);
    if (cutOff.length > 0) args.push(['notRecorded', this.ranks(cutOff)]);
    if (aborted.length > 0) args.push(['aborted', this.ranks(aborted)]);
    if (absent.length > 0) args.push(['notEntered', this.ranks(absent)]);
    append(args, [...this.skew(collective), ...this.bandwidth(collective)]);
    if (open.length === 0 && collective.end === null)
      args.push(['completion', 'enqueued, completion not recorded']);
    return args;
  }

  /** Only if all ranks have files, because the last of the known ranks may not be the straggler. */
  private skew(collective: Collective): [string, ArgValue][] {
    const { files } = this.comm;
    const size = this.comm.nRanks > 0 ? this.comm.nRanks : this.labels.worldSize;
    const { arrived, firstArrival, firstFile, lastArrival, lastFile, lastRank } = collective;
    if (size === 0 || arrived < size || arrived < 2) return [];
    if (!this.labels.comparable(files)) return [['skew', 'not known: several clocks']];
    const skew = lastArrival - firstArrival;
    const bound = this.labels.clockBound(firstFile, lastFile, lastArrival);
    if (!Number.isFinite(bound)) return [['skew', 'not known: several clocks']];
    const args: [string, ArgValue][] = [['skewNs', skew]];
    if (bound > 0) args.push(['skewBoundNs', Math.ceil(bound)]);
    if (skew > bound || bound === 0)
      args.push(
        ['lateRank', numberOr(this.labels.rankOf(lastFile, lastRank, this.comm.commId))],
        ['late', lateOn(collective)],
      );
    else args.push(['skew', 'below what the clocks can tell']);
    return args;
  }

  private bandwidth(collective: Collective): [string, ArgValue][] {
    const { nRanks, files } = this.comm;
    const { bytes, fromLast, fromFirst } = bandwidthsOf(collective, nRanks, this.labels.comparable(files));
    if (bytes === null) return [];
    const args: [string, ArgValue][] = [['bytes', bytes]];
    if (fromLast) {
      this.busy.push(fromLast);
      args.push(['algbwGBs', round(fromLast.algbw)], ['busbwGBs', round(fromLast.busbw)]);
    }
    if (fromFirst)
      args.push(['algbwFromFirstGBs', round(fromFirst.algbw)], ['busbwFromFirstGBs', round(fromFirst.busbw)]);
    return args;
  }

  private ranks(files: readonly number[]): string {
    return files.map((file) => this.labels.rankOf(file)).join(',');
  }
}

/** If the call came when all others waited already, the host was late. Otherwise the GPU was late: it began late after a call in time. */
const lateOn = ({ late: { onGpu }, lastArrival }: Pick<Collective, 'late' | 'lastArrival'>): string =>
  onGpu.basis === 'call' || 2 * (onGpu.called - onGpu.others) > lastArrival - onGpu.others
    ? 'host call'
    : 'GPU';

/**
 * Those that a host called ahead and that wait behind one that does not end: if they are many, as the buckets of DDP, each would take a lane. The
 * one that the verdict names, or else the first call, has its own.
 */
function queued(all: readonly Operation[], named: Operation | null | undefined): readonly Operation[] {
  const open = all.filter(({ until }) => until === null);
  const front = named?.until === null ? named : open[0];
  return open.length > MOST_OPEN ? open.filter((one) => one !== front) : [];
}

/** null: the slice stays open. The end is never before the start, even if the clocks are wrong. */
export function drawnUntil({ open, end, enqueued, firstArrival }: Collective): TraceNs | null {
  if (open.length > 0) return null;
  const last = end ?? enqueued ?? firstArrival;
  return last > firstArrival ? last : firstArrival;
}

/** Three significant digits: the precision of such a measurement. */
const round = (value: number): number => Number(value.toPrecision(3));
