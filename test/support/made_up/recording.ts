/** The parts with which most made-up recordings begin: one rank, NCCL's threads, a collective. Ticks are nanoseconds. */

import { RankFileBuilder, type FileOptions, type RingBuilder } from '../rank_files/rank_file_builder.js';
import type { StartColl } from '../rank_files/ring_starts.js';

/** Rank 1 of 4 with the three rings of a proxy and an API thread, in communicator `dp`. */
export function recording(options: FileOptions & { abi?: number; finalizeTick?: number } = {}) {
  const { abi = 6, finalizeTick, ...fileOptions } = options;
  const file = new RankFileBuilder({ rank: 1, worldSize: 4, ...fileOptions });
  const comm = file.communicator({
    name: 'dp',
    commId: 0xabcn,
    rank: 1,
    nRanks: 4,
    abi,
    ...(finalizeTick === undefined ? {} : { finalizeTick }),
  });
  const host = file.ring('host', 64, { threadName: 'python', tid: 11 });
  const ops = file.ring('ops', 256, { threadName: 'NCCL Progress 0', tid: 12 });
  const steps = file.ring('steps', 64, { threadName: 'NCCL Progress 0', tid: 12, foldCapacity: 8 });
  return { file, comm, host, ops, steps };
}

/** An AllReduce, enqueued. */
export function coll(
  host: RingBuilder,
  comm: number,
  from: number,
  enqueued: number,
  seqNumber = 5,
  more: StartColl = {},
): bigint {
  const handle = host.startColl(from, {
    comm,
    seqNumber,
    func: 'AllReduce',
    datatype: 'ncclFloat32',
    algo: 'RING',
    proto: 'SIMPLE',
    count: 1024,
    nChannels: 1,
    ...more,
  });
  host.stop(enqueued, handle);
  return handle;
}

/** Lines without the path above the last track and without arguments: "100 [collectives] begin AllReduce". */
export function outline(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/\[(?:.* \/ )?([^/]*)\]/, '[$1]').replace(/ \w+=.*/, ''));
}
