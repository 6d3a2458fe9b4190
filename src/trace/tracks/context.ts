/**
 * What every part of a rank's picture shares: the sink, the way from the file's ticks to trace time, and what the scan
 * of all ranks found out beforehand.
 */

import type { Ticks, TraceNs } from '../../base/time.js';
import type { GpuNs, Op } from '../../model/types.js';
import type { PeerTraffic } from '../../model/peer_bytes.js';
import type { WorkEnd } from '../../model/work_end.js';
import type { Recording } from '../../model/recording.js';
import type { RankNames } from './rank_names.js';
import type { TrackSink } from './sink.js';

export interface TrackContext {
  readonly sink: TrackSink;
  readonly file: Recording;
  readonly names: RankNames;
  /** The file's ticks, through its ClockMap. */
  readonly time: (at: Ticks) => TraceNs;
  /** GPU timestamps of a communicator's kernels on the same axis; null: there are none, or the GPU is not known. */
  readonly gpuTime: (comm: Op['comm']) => ((at: GpuNs) => TraceNs) | null;
  /** When the work in this row of the scan ended. */
  readonly workEnd: (row: number) => WorkEnd;
  /** With how many of its steps a stand-in ends, whose stop is not in the file; 0: it is, or it has not ended. */
  readonly standInSteps: (op: Op) => number;
  /** The newest heartbeat, record or poll of the file; null: none. */
  readonly lastSign: Ticks | null;
  /** The process gave no sign of life after that, though the run went on. */
  readonly isSilent: boolean;
  /** Whether nothing more was told of the CollApi or P2pApi in this row. */
  readonly isSilentCall: (apiRow: number) => boolean;
  /** Whether it runs on a connection of which NCCL never tells an end (CollNet, memcpy). */
  readonly neverEnds: (op: Op) => boolean;
  /**
   * Whether an arrow to that rank of the communicator (by commId) can be drawn: its file is here, and on the same axis;
   * with `needsCounter` on the same counter, for transfers that were not held against their other end.
   */
  readonly sharesClock: (commId: bigint, commRank: number, needsCounter: boolean) => boolean;
  /** Transfers whose two ends do not fit together: they get no arrow. Ids as `transferName`. */
  readonly brokenTransfers: ReadonlySet<string>;
  /** Connections, by `transferName` of what names their transfers, that get no arrow from the operation with this ordinal on. */
  readonly outOfStep: ReadonlyMap<string, number>;
  /** Peers whose bytes get counters of their own. */
  readonly busiestPeers: readonly PeerTraffic[];
}
