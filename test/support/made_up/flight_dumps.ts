/**
 * Made-up dumps in the form of PyTorch's Flight Recorder (version 2.9, torch/csrc/distributed/c10d/FlightRecorderDetail.hpp): groups, and
 * the calls of each rank. Python pickles them.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface MadeUpCall {
  readonly group: string;
  readonly seq: number;
  readonly op: string;
  readonly state?: 'scheduled' | 'started' | 'completed';
  readonly sizes?: readonly (readonly number[])[];
  /** As `sizes` if it is left out. */
  readonly outputs?: readonly (readonly number[])[];
  readonly dtype?: string;
  readonly at?: number;
  readonly isP2p?: boolean;
  /** "nccl" if it is left out. */
  readonly backend?: string;
  /** If it is left out: whether the call is completed. */
  readonly retired?: boolean;
  /** ns after `at`. */
  readonly startedAfter?: number;
  readonly endedAfter?: number;
  readonly p2pSeq?: number;
  /** The group's number in the process; if it is left out, its place in `groups`. */
  readonly groupId?: number;
  readonly frames?: readonly { readonly name: string; readonly filename: string; readonly line: number }[];
}

export interface MadeUpDumps {
  /** Ranks by the name of the group. */
  readonly groups: Readonly<Record<string, readonly number[]>>;
  /** By the name of the group; the name with "_GROUP" if it is left out. */
  readonly descriptions?: Readonly<Record<string, string>>;
  /** By rank. null: no dump. */
  readonly calls: readonly (readonly MadeUpCall[] | null)[];
  /** By rank and group: the last collective completed. */
  readonly completed?: readonly Readonly<Record<string, number>>[];
  /** The number of the first call that is listed; 0: nothing was overwritten. */
  readonly firstRecord?: number;
}

/** 2026-11-22 03:00:00 UTC, in ns. */
export const STARTED = 1_795_316_400_000_000_000;

export function dumpOf(
  { groups, descriptions, calls, completed, firstRecord = 70_000 }: MadeUpDumps,
  rank: number,
): object {
  const descriptionOf = (group: string): string => descriptions?.[group] ?? `${group}_GROUP`;
  const own = Object.entries(groups).filter(([, ranks]) => ranks.includes(rank));
  const idOf = (group: string): number => own.findIndex(([name]) => name === group);
  return {
    version: '2.9',
    nccl_version: '2.27.3',
    pg_config: Object.fromEntries(
      own.map(([name, ranks]) => [name, { name, desc: descriptionOf(name), ranks: `[${ranks.join(', ')}]` }]),
    ),
    pg_status: Object.fromEntries(
      own.map(([name]) => {
        const last = completed?.[rank]?.[name] ?? -1;
        return [
          String(idOf(name)),
          {
            last_enqueued_collective: last,
            last_started_collective: -1,
            last_completed_collective: last,
          },
        ];
      }),
    ),
    entries: (calls[rank] ?? []).map(
      ({ group, seq, op, state = 'scheduled', sizes = [[1024]], dtype = 'Float', at = 0, ...more }, i) => ({
        ...(more.frames ? { frames: more.frames } : {}),
        record_id: firstRecord + i,
        pg_id: more.groupId ?? idOf(group),
        process_group: [group, descriptionOf(group)],
        thread_name: 'python3',
        thread_id: '23456244340032',
        collective_seq_id: seq,
        p2p_seq_id: more.p2pSeq ?? (more.isP2p ? i + 1 : 0),
        op_id: seq,
        profiling_name: `${more.backend ?? 'nccl'}:${op}`,
        time_created_ns: STARTED + at,
        input_sizes: sizes,
        input_dtypes: sizes.map(() => dtype),
        output_sizes: more.outputs ?? sizes,
        output_dtypes: (more.outputs ?? sizes).map(() => dtype),
        state,
        time_discovered_started_ns: more.startedAfter === undefined ? null : STARTED + at + more.startedAfter,
        time_discovered_completed_ns: more.endedAfter === undefined ? null : STARTED + at + more.endedAfter,
        retired: more.retired ?? state === 'completed',
        timeout_ms: 600_000,
        is_p2p: more.isP2p ?? false,
      }),
    ),
  };
}

/** Writes a folder of dumps and returns its path. `protocol` null: JSON. */
export function writeDumps(folder: string, made: MadeUpDumps, protocol: number | null = 2): string {
  mkdirSync(folder, { recursive: true });
  made.calls.forEach((calls, rank) => {
    if (calls === null) return;
    const dump = dumpOf(made, rank);
    const bytes = protocol === null ? JSON.stringify(dump) : pickled(dump, protocol);
    writeFileSync(path.join(folder, `nccl_trace_rank_${rank}`), bytes);
  });
  return folder;
}

const PICKLE = `
import json, pickle, sys
dump = json.load(sys.stdin)
for entry in dump.get('entries', []):
    entry['process_group'] = tuple(entry['process_group'])
sys.stdout.buffer.write(pickle.dumps(dump, int(sys.argv[1])))
`;

export function pickled(dump: object, protocol = 2): Buffer {
  const input = JSON.stringify(dump);
  const run = spawnSync('python3', ['-c', PICKLE, String(protocol)], { input, maxBuffer: 2 ** 26 });
  if (run.error !== undefined) throw new Error('this test needs python3 on the PATH', { cause: run.error });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return run.stdout;
}
