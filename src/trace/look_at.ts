/** The connection that the verdict says to look at, by the paths of its tracks in the trace: both its ends. */

import { processTitle } from '../runs/process_title.js';
import type { PrologueOptions } from './perfetto/prologue.js';
import { commTitle, pxnTitle } from './tracks/comm_groups.js';
import { connectionTitle } from './tracks/connections.js';
import type { Verdict } from '../verdict/types.js';
import { peerName, rankName } from './tracks/rank_names.js';
import { inJob, jobRanks } from './job_ranks.js';
import { shortTitle } from './labels.js';
import type { Run } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import { standstillOf } from '../verdict/evidence/suspects.js';

interface LookAt {
  /** "rank 0002 > comm dp 0x… (4 ranks) > rank 2 · ch00 recv from 1"; the process by its title, which begins its name. null: nowhere. */
  readonly end: string | null;
  /** Likewise of the peer; null: its file is not here, or not known which it is. */
  readonly otherEnd: string | null;
}

export function lookAtAttributes(run: Run, verdict: Verdict): PrologueOptions['attributes'] {
  const { end, otherEnd } = lookAt(run, verdict);
  return [
    ['nccl_trace.look_at', end ?? 'none'],
    ['nccl_trace.look_at_other_end', otherEnd ?? 'none'],
  ];
}

function lookAt(run: Run, verdict: Verdict): LookAt {
  const standstill = standstillOf(verdict);
  const front = standstill?.front;
  if (!front || standstill.commId === null) return { end: null, otherEnd: null };
  const commId = BigInt(standstill.commId);
  const { channel, file, peerFile, peerInComm, isSend } = front;
  const own = commIn(run, file, commId);
  const other = peerFile === null ? null : commIn(run, peerFile, commId);
  const isOne = ranksIn(run, file, commId).length === 1;
  const numbers = jobRanks(run);
  const title = (one: number, comm: Comm, send: boolean, peer: number): string => {
    const names = { own: shortTitle(run.members[one]!), inJob: inJob(numbers) };
    return connectionTitle(rankName(names, comm), channel, send, peerName(names, comm, peer));
  };
  return {
    end: own && pathOf(run, file, front.executor, own, title(file, own, isSend, peerInComm)),
    otherEnd:
      peerFile !== null && own !== null && other !== null && isOne
        ? pathOf(run, peerFile, null, other, title(peerFile, other, !isSend, own.rank))
        : null,
  };
}

function pathOf({ members }: Run, file: number, executor: number | null, comm: Comm, track: string): string {
  const titleOf = (one: number): string => processTitle(members[one]!.scan, members[one]!.ranks);
  const group = executor === null ? commTitle(comm) : pxnTitle(titleOf(file), comm);
  return [titleOf(executor ?? file), group, track].join(' > ');
}

type Comm = RankScan['communicators'][number];

const commsIn = ({ members }: Run, file: number, commId: bigint) =>
  members[file]!.scan.communicators.filter((comm) => comm.commId === commId);
const commIn = (run: Run, file: number, commId: bigint) => commsIn(run, file, commId)[0] ?? null;

/** Several of a process with several GPUs. */
const ranksIn = (run: Run, file: number, commId: bigint): number[] => [
  ...new Set(commsIn(run, file, commId).map(({ rank }) => rank)),
];
