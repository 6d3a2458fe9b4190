/**
 * The rows to pin on the first screen, by file: both ends of the connection that the verdict points to, and the suspects' last calls. Their
 * lanes are only known once they are drawn.
 */

import { addBigint, addText, addWord, HASH_SEED } from '../base/hash.js';
import type { TraceNs } from '../base/time.js';
import { commTitle } from './tracks/comm_groups.js';
import { peerName, rankName, titleOf, type RankNames } from './tracks/rank_names.js';
import type { FlowId } from './tracks/sink.js';
import { connectionTitle, pxnTitle } from './tracks/specs.js';
import type { Watch } from './tracks/watched_tracks.js';
import type { Verdict } from '../verdict/types.js';
import { inJob, jobRanks } from '../runs/job_ranks.js';
import { processTitle } from '../runs/process_title.js';
import { shortTitle } from './labels.js';
import type { Run } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import { slowLinkOf, stallOf, suspectComm, suspectsOf } from '../verdict/facts/suspects.js';

export interface FileWatch extends Watch {
  readonly file: number;
  /** Title of the process with the track. */
  readonly process: string;
  /** Its role on the first screen. */
  readonly row: 'end' | 'other end' | 'calls';
}

/** Attributes of the trace: both ends of the connection to look at, as "title of the process > group > track". */
export function lookAtAttributes(watches: readonly FileWatch[]): [string, string][] {
  const pathOf = (row: FileWatch['row']): string => {
    const found = watches.find((one) => one.row === row);
    return found ? [found.process, found.group, found.title].join(' > ') : 'none';
  };
  return [
    ['nccl_trace.look_at', pathOf('end')],
    ['nccl_trace.look_at_other_end', pathOf('other end')],
  ];
}

/** In the order of the rows. */
export function watchesOf(run: Run, verdict: Verdict): FileWatch[] {
  const named = suspectComm(verdict);
  if (typeof named?.commId !== 'string') return [];
  const commId = BigInt(named.commId);
  return [...connections(run, verdict, commId), ...calls(run, verdict, commId)];
}

/** The id of the arrow from the verdict's slice to the step. A trace has only one such arrow. */
export const lookHere = (commId: bigint): FlowId => {
  const { hi, lo } = addWord(addText(addBigint(HASH_SEED, commId), 'look here'), 1);
  return { hi, lo };
};

/** One end of the connection that the verdict names. */
interface NamedEnd {
  readonly file: number;
  readonly executor: number | null;
  readonly channel: number;
  readonly isSend: boolean;
  readonly peerFile: number | null;
  readonly peerInComm: number;
  readonly arrow: FileWatch['arrow'];
}

function connections(run: Run, verdict: Verdict, commId: bigint): FileWatch[] {
  const end = namedEnd(run, verdict, commId);
  if (!end) return [];
  const { channel, file, executor, peerFile, peerInComm, isSend, arrow } = end;
  const [own, ...more] = commsIn(run, file, commId);
  if (!own) return [];
  const titleIn = (one: number, comm: Comm, send: boolean, peer: number): string => {
    const names = namesOf(run, one);
    return connectionTitle(rankName(names, comm), channel, send, peerName(names, comm, peer));
  };
  const ends: FileWatch[] = [
    {
      ...placeOf(run, file, executor, own),
      row: 'end',
      title: titleIn(file, own, isSend, peerInComm),
      arrow,
    },
  ];
  const other = peerFile === null ? undefined : commsIn(run, peerFile, commId)[0];
  // If a process has several ranks of the communicator, it is not known which one this is.
  if (peerFile !== null && other && more.length === 0)
    ends.push({
      ...placeOf(run, peerFile, null, other),
      row: 'other end',
      title: titleIn(peerFile, other, !isSend, own.rank),
      arrow: null,
    });
  return ends;
}

/** Of a stall the end of the chain of waits, to which the arrow leads; of slow sends the sender. */
function namedEnd(run: Run, verdict: Verdict, commId: bigint): NamedEnd | null {
  const stall = stallOf(verdict);
  if (stall?.front) {
    const at = Math.round(Math.max(0, stall.since)) as TraceNs;
    const arrow = { flow: lookHere(commId), at, step: stall.front.wait?.step ?? null };
    return { ...stall.front, arrow };
  }
  const link = slowLinkOf(verdict);
  const peer = link && commsIn(run, link.peerFile, commId)[0];
  if (!link || !peer) return null;
  return { ...link, executor: null, isSend: true, peerInComm: peer.rank, arrow: null };
}

/** Each suspect's calls; for a mismatch also those of one other rank. */
function calls(run: Run, verdict: Verdict, commId: bigint): FileWatch[] {
  const witness = verdict.kind === 'mismatch' ? verdict.mismatch.ways[0].entered.slice(0, 1) : [];
  return [...suspectsOf(verdict), ...witness].flatMap(({ file }) => {
    const [comm] = commsIn(run, file, commId);
    if (!comm) return [];
    const title = titleOf(rankName(namesOf(run, file), comm), 'collectives');
    return [{ ...placeOf(run, file, null, comm), row: 'calls' as const, title, arrow: null }];
  });
}

type Comm = RankScan['communicators'][number];

/** Several for a process with several GPUs. */
const commsIn = ({ members }: Run, file: number, commId: bigint): Comm[] =>
  members[file]!.scan.communicators.filter((comm) => comm.commId === commId);

const namesOf = (run: Run, file: number): RankNames => ({
  own: shortTitle(run.members[file]!),
  inJob: inJob(jobRanks(run)),
});

/** `executor`: file of the process that executes its sends (PXN). */
function placeOf({ members }: Run, file: number, executor: number | null, comm: Comm) {
  const titleIn = (one: number): string => processTitle(members[one]!);
  const drawn = executor ?? file;
  const group = executor === null ? commTitle(comm) : pxnTitle(titleIn(file), comm);
  return { file: drawn, process: titleIn(drawn), group };
}
