/** What all parts of a rank's drawing share: the sink, the map from ticks to trace time, and the results of the scan of all ranks. */

import type { Ticks, TraceNs } from '../../base/time.js';
import type { GpuNs, Op } from '../../model/types.js';
import type { PeerTraffic } from '../../model/peer_traffic.js';
import type { WorkEnd } from '../../model/work_end.js';
import type { Recording } from '../../model/recording.js';
import type { RankNames } from './rank_names.js';
import type { TrackSink } from './sink.js';

export interface TrackContext {
  readonly sink: TrackSink;
  readonly file: Recording;
  readonly names: RankNames;
  /** Maps the file's ticks by its ClockMap. */
  readonly time: (at: Ticks) => TraceNs;
  /** Maps GPU timestamps of a communicator's kernels to the same axis; null: there are none, or the GPU is not known. */
  readonly gpuTime: (comm: Op['comm']) => ((at: GpuNs) => TraceNs) | null;
  /** End of the work in this row of the scan. */
  readonly workEnd: (row: number) => WorkEnd;
  /** Number of steps after which a stand-in without a stop ends; 0: it has a stop, or has not ended. */
  readonly standInSteps: (op: Op) => number;
  /** The newest heartbeat, record or poll of the file; null: none. */
  readonly lastSign: Ticks | null;
  /** The process is silent: it gave no sign after `lastSign`, although the run went on. */
  readonly isSilent: boolean;
  /** Whether the CollApi or P2pApi in this row has no further events. */
  readonly isBareCall: (apiRow: number) => boolean;
  /** Whether NCCL reports no ends on its connection (CollNet, memcpy). */
  readonly neverEnds: (op: Op) => boolean;
  /**
   * Whether an arrow to that rank of the communicator (by commId) can be drawn. Its file must be on the same axis. With `needsCounter` it
   * must be on the same counter, for transfers that were not checked against their other end.
   */
  readonly sharesClock: (commId: bigint, commRank: number, needsCounter: boolean) => boolean;
  /** Transfers with contradicting ends: they get no arrow. Ids as `transferName`. */
  readonly brokenTransfers: ReadonlySet<string>;
  /** Connections (`transferName` of their transfers' shared name) without arrows from the operation with this ordinal on. */
  readonly outOfStep: ReadonlyMap<string, number>;
  /** Peers with byte counters of their own. */
  readonly busiestPeers: readonly PeerTraffic[];
}
