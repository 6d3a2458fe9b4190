/**
 * When a rank arrived at a call: when its GPU began with it. This is the only model of lateness, and it has three rules.
 *
 * 1. Only what a rank's own GPU or host did first shows when it arrived: its kernel began, or it filled a send or consumed a receive that
 *    needs nobody else's data. Each rank of a ring and a leaf of a tree begin with such a send.
 * 2. Else it can only begin when data have come: in a tree all ranks above the leaves, the root last of all; in a pipeline each receiver.
 *    The time until the data came belongs to the ranks that sent them, and only the time after that to this rank. If most of the time came
 *    before the data, the rank only waited: it arrived at any time since its call, which is a lower bound. Within a node no record shows
 *    when data came, so in a tree of nodes with several ranks the call is all that is known.
 * 3. What a rank waited for others, in any call, is not its own lateness: only the time in which it had nothing pending is (rank_walk.ts).
 *
 * verdict/slowness.ts decides which rank owns a lateness.
 */

import type { TraceNs } from '../base/time.js';
import { ALL_TO_ALL } from '../model/roots.js';
import type { ArrivalBasis, ClusterMember } from './collective_types.js';

/** ns: a GPU that waits for a peer's data goes on within this time after they came. */
const WAITED_FOR_DATA = 2e5;

/** A GPU that takes data within this share of the time since its call waited for them. */
const AT_ONCE = 0.1;

/**
 * ns: on the host's clock a stamp is late by the shortest time that the proxy thread takes to notice a kernel. No record shows that time,
 * so the hard bound alone would allow any time. The thread polls all the time, so it takes at most this long.
 */
const NOTICE_TAKES = 1e6;

/** One object for all arrivals in turn, because a run has millions. */
export class Arrival {
  basis: ArrivalBasis = 'call';
  at = 0 as TraceNs;
  /** Lower and upper bound. */
  earliest = 0 as TraceNs;
  latest = 0 as TraceNs;
  /** When the host called. */
  called = 0 as TraceNs;
  /** False: it waited for another rank's data, so it is not known when it came, between `at` and `latest`. */
  isOwn = true;
  /** Before this it waited for other ranks' data. */
  since = -Infinity;
  /** It waited for data until its GPU began, so it shows nothing of when it came, and says nothing against another rank's lateness. */
  onlyWaited = false;

  /** Numbers of the communicators that have several ranks on a node. */
  private readonly withinNodes: ReadonlySet<number>;

  constructor(private readonly member: ClusterMember) {
    this.withinNodes = new Set(
      member.communicators.flatMap(({ number, nNodes, nRanks }) =>
        nNodes > 0 && nNodes < nRanks ? [number] : [],
      ),
    );
  }

  /** `free`: when the work before it in the same communicator was over. */
  find(row: number, free: number): void {
    const { works, time } = this.member;
    this.called = time(works.arrival[row]!);
    const queued = Math.max(this.called, free) as TraceNs;
    this.set('call', queued, queued, queued);
    this.isOwn = true;
    this.since = -Infinity;
    this.onlyWaited = false;
    this.byKernel(row);
    this.byStep(row, queued);
  }

  private set(basis: ArrivalBasis, at: TraceNs, earliest: TraceNs, latest: TraceNs): void {
    this.basis = basis;
    this.at = at;
    this.earliest = earliest;
    this.latest = latest;
  }

  /** A stamp may be late by the time to notice a kernel, and early by the timer's step. The bounds of the GPU's clock are added. */
  private byKernel(row: number): void {
    const { called } = this;
    const { works, ends, time, gpuTime, gpuError } = this.member;
    const comm = works.comm[row]!;
    const onAxis = gpuTime(comm);
    const stamp = ends.kernelStamp[row]!;
    if (Number.isNaN(stamp) || onAxis === null) return;
    const { late, early } = gpuError(comm);
    const error = Math.min(late, NOTICE_TAKES);
    const noticed = time(ends.kernelNoticed[row]!);
    const stamped = Math.min(onAxis(stamp), noticed);
    if (!(stamped >= called - error)) return;
    const at = Math.max(called, stamped) as TraceNs;
    const earliest = Math.max(called, at - error) as TraceNs;
    const latest = Math.max(at, Math.min(noticed, at + early)) as TraceNs;
    this.set('kernel', at, earliest, latest);
  }

  /** By the host's clock. The time is as exact as the proxy thread is quick. */
  private byStep(row: number, queued: TraceNs): void {
    const { ends, time } = this.member;
    if (Number.isNaN(ends.step[row]!)) return;
    const at = Math.max(this.called, time(ends.step[row]!)) as TraceNs;
    const data = Number.isNaN(ends.data[row]!) ? -Infinity : time(ends.data[row]!);
    // The GPU waited for these data, so the rank may have arrived long before the data.
    const earliest = at - data < WAITED_FOR_DATA ? earlier(queued, at) : at;
    if (this.basis === 'kernel') {
      const first = earlier(this.at, at);
      this.set('kernel', first, earliest === at ? first : this.earliest, earlier(this.latest, at));
    } else if ((data - queued > at - data && !this.sendsFirst(row)) || this.takesFromNode(row)) {
      this.isOwn = false;
      this.onlyWaited = at - data < Math.max(WAITED_FOR_DATA, AT_ONCE * (data - queued));
      this.latest = at;
    } else {
      this.set('step', at, earliest, at);
      if (!this.sendsFirst(row)) this.since = data;
    }
  }

  /** Its own data, before it needs those of others. Where a ring enters a node, the rank sends only within the node. */
  private sendsFirst(row: number): boolean {
    const { plans, plan, funcs, func, comm } = this.member.works;
    return (
      plans[plan[row]!]!.startsWith('RING') &&
      ALL_TO_ALL.includes(funcs[func[row]!]!) &&
      !this.withinNodes.has(comm[row]!)
    );
  }

  /** It may wait for the data of a rank on its node. */
  private takesFromNode(row: number): boolean {
    const { plans, plan, comm } = this.member.works;
    const name = plans[plan[row]!]!;
    return name !== '' && !name.startsWith('RING') && this.withinNodes.has(comm[row]!);
  }
}

const earlier = (a: TraceNs, b: TraceNs): TraceNs => (b < a ? b : a);
