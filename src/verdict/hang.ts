/** Describes a stall in the user's terms: who never came, who waits, in what, for whom. */

import { minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import type { Collective } from '../cluster/collective_view.js';
import { aloneIn } from './alone.js';
import { leftAt, ranksInComm, SHORTEST_HANG, SILENT_AFTER } from './absence.js';
import { commOf, callName, type Case } from './case.js';
import { crossedWith, strayedIn } from './crossed_order.js';
import { strangersIn } from './facts/suspects.js';
import { placesOf, endOfWaits, waitsOf, type FileWork } from './wait_chains.js';
import { mismatchBefore, mismatchOf } from './mismatch.js';
import { byFile, callersByComm, evidenceAt, shapeAt, type Placed } from './placed_calls.js';
import { silentFiles } from './process_states.js';
import { filesInDoubt, type Stall } from './stall.js';
import type { RankWitness } from './file_facts.js';
import type { Ended, Evidence, Hang, KernelState, Silent, CallName, Stray, UnseenCall } from './types.js';

export function describeHang(stall: Stall, stalls: readonly Stall[], evidence: Case): Hang {
  const { ranks } = evidence;
  const { collective, works, files, nRanks, commId, since } = stall;
  const doubtful = filesInDoubt(works);
  const surely = works.filter(({ file }) => !doubtful.includes(file));
  // Without its steps an operation shows no progress and no wait.
  const stepped = surely.filter(({ file }) => !ranks[file]!.lacks.notRecorded.includes('ProxyStep'));
  const silent = silentFiles(evidence, since, files);
  const ended = endedEarly(stall, evidence);
  const suspects = new Set([
    ...stall.absent,
    ...goneAtStall(silent, since),
    ...ended.map(({ file }) => file),
  ]);
  const absentRanks = new Set(stall.partlyAbsent.flatMap(({ inComm }) => inComm));
  const present = new Set(files.flatMap((file) => ranksInComm(ranks[file]!, commId)));
  const mismatch = mismatchOf(stall, evidence) ?? mismatchBefore(stall, evidence);
  const crossed = mismatch ? [] : crossedWith(stall, stalls, ranks);
  const { circle = [] } = stall;
  const unseen = unseenBefore(stall, ranks);
  const front = unseen
    ? null
    : endOfWaits(firstOf(circle, stepped), placesOf(ranks, commId), suspects, absentRanks);
  return {
    ...(unseen ? { ...callOf(stall), func: unseen.func, seq: null } : callOf(stall)),
    nRanks,
    members: files,
    since,
    age: stall.until - since,
    neverEntered: [
      ...(unseen ? [] : stall.absent).map((file) => stray(file, stall, ranks)),
      ...stall.partlyAbsent.map(({ file, inComm }) => stray(file, stall, ranks, inComm)),
    ],
    notKnown: [
      ...[...(collective?.notKnown ?? []), ...(collective?.absent ?? [])].filter(
        (file) => !stall.absent.includes(file),
      ),
    ].sort((a, b) => a - b),
    mayHaveFinished: doubtful,
    mismatch,
    crossed,
    unseen,
    unmatched: stall.unmatched ?? [],
    circle,
    alone: unseen ? [] : aloneIn(stall, evidence),
    different:
      stall.strayed ?? (crossed.length > 0 ? strayedIn(crossed) : mismatch ? strangersIn(mismatch) : []),
    waiting: waitingIn(stall, ranks).filter(({ file }) => !doubtful.includes(file)),
    inside: stall.inside.map(({ file, hasReturned, call: { record, at, func, count, datatype, root } }) => ({
      ...{ file, record, at, func, count, datatype, root, hasReturned },
    })),
    aborted: (collective?.aborted ?? [...new Set(abortedOf(works, ranks))].sort((a, b) => a - b)).filter(
      (file) => !doubtful.includes(file),
    ),
    unhanded: unhandedIn(stall),
    waits: waitsOf(stepped),
    ended,
    front,
    kernels: kernelsOf(surely, front?.node ?? null, collective !== null && isAlone(collective, files)),
    missing:
      commId === null || ranks.some(({ lacks }) => lacks.unknownComms > 0)
        ? [] // One of the files may be that rank's.
        : Array.from({ length: nRanks }, (_, rank) => rank).filter((rank) => !present.has(rank)),
    silent,
    isRelated: evidence.comparable(files),
    until: stall.until,
    wasKilled: files.length > 0 && files.every((file) => ranks[file]!.life.isGone),
  };
}

/** Its works that began and whose enqueueing does not end, for longer than any call takes. */
const unhandedIn = ({ works, until }: Stall): Hang['unhanded'] =>
  works.flatMap(({ file, work: { unhanded, record, start: at, lostSince } }) =>
    unhanded && lostSince === 0 && until - at >= SHORTEST_HANG ? [{ file, record, at, ...unhanded }] : [],
  );

function callOf({ commId, name, collective, works, inside }: Stall): CallName {
  const first = works[0]?.work;
  const funcs = [
    ...new Set([...works.map(({ work }) => work.func), ...inside.map(({ call }) => call.func)]),
  ].sort();
  return {
    commId: commId === null ? null : hex64(commId),
    comm: name,
    func: collective?.func ?? funcs.join('/'),
    seq: collective?.seq ?? first?.seq ?? null,
    replay: collective?.ordinal ?? 0,
  };
}

/** Each file once, by its oldest work. Includes files for which only the part in another process is unfinished. */
function waitingIn(
  { collective, works, commId, partlyAbsent }: Stall,
  ranks: readonly RankWitness[],
): Hang['waiting'] {
  const byFile = new Map<number, Evidence>();
  for (const { file, work } of works)
    if (!byFile.has(file)) byFile.set(file, { file, record: work.record, at: work.start });
  for (const file of [...(collective?.open ?? []), ...(collective?.aborted ?? [])]) {
    if (byFile.has(file) || commId === null) continue;
    const call = ranks[file]!.calls.entered(commId, collective!);
    if (call) byFile.set(file, { file, record: call.record, at: call.at });
  }
  const some = new Map(
    partlyAbsent.map(({ file, inComm }) => [
      file,
      { inComm: ranksInComm(ranks[file]!, commId).filter((rank) => !inComm.includes(rank)) },
    ]),
  );
  return [...byFile.values()]
    .sort((a, b) => a.file - b.file)
    .map((one) => ({ ...one, ...some.get(one.file) }));
}

/** All other ranks have finished it. */
const isAlone = ({ open, aborted, absent, notKnown }: Collective, files: readonly number[]): boolean =>
  open.length + aborted.length === 1 && absent.length + notKnown.length === 0 && files.length > 1;

/** Within a node only kernels show the progress: those of ranks without an operation, or of the node where the waits end. */
function kernelsOf(
  pending: readonly FileWork[],
  node: (Hang['front'] & object)['node'],
  isOneAlone: boolean,
): KernelState[] {
  const all = pending.flatMap(({ file, work: { ops, blocks, record } }) =>
    blocks && (ops.length === 0 || node?.files.includes(file)) ? [{ file, record, ...blocks }] : [],
  );
  const least = minOf(all.map(({ begun }) => begun));
  const areEqual = all.every(({ begun }) => begun === least);
  return all
    .map((one) => ({ ...one, isLeast: one.begun === least && (least === 0 || !areEqual || isOneAlone) }))
    .sort((a, b) => a.begun - b.begun || a.file - b.file);
}

/** A circle of waits has no end, so any rank of it is as good. */
const firstOf = ([first]: Hang['circle'], pending: readonly FileWork[]): readonly FileWork[] =>
  first
    ? pending.filter(({ file, work }) => file === first.file && work.record === first.first.record)
    : pending;

const abortedOf = (works: readonly FileWork[], ranks: readonly RankWitness[]): number[] =>
  works.flatMap(({ file, work }) => ((commOf(ranks[file]!, work)?.finalized ?? null) === null ? [] : [file]));

/** `inComm`: the ranks that did not come, of a process whose other ranks did. The process's other unfinished work may belong to those. */
function stray(
  file: number,
  { commId, since }: Stall,
  ranks: readonly RankWitness[],
  inComm?: readonly number[],
): Stray {
  const { life, reach, pending } = ranks[file]!;
  const { knownFrom, knownUntil } = reach;
  const [call] = pending.inside;
  return {
    file,
    lastSign: life.lastSign,
    isAlive: life.isAlive,
    knownFrom,
    knownUntil: Number.isFinite(knownUntil) ? knownUntil : null,
    stuckIn: stuckIn(file, ranks, inComm && { commId, inComm }),
    isIn: call ? { file, record: call.record, at: call.at, func: call.func } : null,
    newest: commId === null ? null : newestThere(file, commId, ranks, inComm),
    left: leftAt(commId, ranks[file]!),
    elsewhere: inComm ? null : newestElsewhere(file, commId, since, ranks[file]!),
    ...(inComm && { inComm }),
  };
}

function stuckIn(
  file: number,
  ranks: readonly RankWitness[],
  only?: { readonly commId: bigint | null; readonly inComm: readonly number[] },
): Stray['stuckIn'] {
  const rank = ranks[file]!;
  const work = rank.pending.works.find((one) => {
    const comm = commOf(rank, one);
    return !only || (comm !== null && comm.commId === only.commId && only.inComm.includes(comm.rank));
  });
  if (!work) return null;
  const commId = commOf(rank, work)?.commId ?? null;
  return {
    ...callName({ file, work }, ranks),
    front: endOfWaits([{ file, work }], placesOf(ranks, commId)),
  };
}

/** Of its other communicators, since then. */
function newestElsewhere(
  file: number,
  commId: bigint | null,
  since: TraceNs,
  rank: RankWitness,
): Stray['elsewhere'] {
  const others = new Set([...rank.communicators.values()].map((comm) => comm.commId));
  const calls = [...others].flatMap((id) => {
    const call = id === commId || id === 0n ? null : newestCall(file, id, rank);
    return call && call.at > since + SHORTEST_HANG ? [call] : [];
  });
  return calls.reduce<Stray['elsewhere']>((a, b) => (a === null || b.at > a.at ? b : a), null);
}

/** The newest of those that NCCL reports and those of which it reports the call alone. The latter have no number. */
function newestThere(
  file: number,
  commId: bigint,
  ranks: readonly RankWitness[],
  inComm?: readonly number[],
): Stray['newest'] {
  const reported = newestCall(file, commId, ranks[file]!, inComm);
  const placed = (callersByComm(ranks).get(commId) ?? []).flat();
  const alone = placed.flatMap((one) => {
    const { calls, end, from, name } = one;
    const isMeant = one.file === file && (inComm?.includes(one.rank) ?? true);
    if (!isMeant || end === from || calls.reported(1)[0] !== null) return [];
    const call = {
      commId: hex64(commId),
      comm: name,
      func: shapeAt(one, end - 1).func,
      seq: null,
      replay: 0,
    };
    return [{ ...call, ...evidenceAt(one, end - 1) }];
  });
  return [...alone, ...(reported ? [reported] : [])].sort((a, b) => b.at - a.at)[0] ?? null;
}

function newestCall(
  file: number,
  commId: bigint,
  { calls, communicators }: RankWitness,
  inComm?: readonly number[],
): Stray['newest'] {
  const call = calls.newest(commId, inComm);
  if (!call) return null;
  const name = [...communicators.values()].find((comm) => comm.commId === commId)?.name ?? '';
  const { func, seq, ordinal, record, at } = call;
  return { commId: hex64(commId), comm: name, func, seq, replay: ordinal, file, record, at };
}

/** The call that the missing ranks made last, if NCCL never reports its work: they are in it, and did not refuse the next one. */
function unseenBefore(
  { commId, collective, absent }: Stall,
  ranks: readonly RankWitness[],
): UnseenCall | null {
  if (commId === null || !collective || absent.length === 0) return null;
  for (const callers of callersByComm(ranks).get(commId) ?? []) {
    const missing = callers.filter(({ file }) => absent.includes(file));
    const [first] = missing;
    if (!first || new Set(missing.map(({ file }) => file)).size < absent.length) continue;
    const call = first.end - 1;
    const isLast = ({ end, calls }: Placed): boolean =>
      end === call + 1 && !calls.isLastOpen && calls.reported(1)[0] === null;
    const { func } = call >= first.from ? shapeAt(first, call) : { func: '' };
    const made = (one: Placed): boolean =>
      one.from <= call && call < one.end && shapeAt(one, call).func === func;
    if (func === '' || !missing.every(isLast) || !callers.every(made)) continue;
    return {
      ...shapeAt(first, call),
      last: byFile(missing).map(([one, some]) => ({ ...evidenceAt(one, call), ...some })),
    };
  }
  return null;
}

/** None if most ranks ended, because then they left because of the stall. */
function endedEarly({ works, files, since, until }: Stall, { processes }: Case): Ended[] {
  const ended = [...new Set(works.map(({ file }) => file))].flatMap((file): Ended[] => {
    const { state, lastSign: at } = processes[file]!;
    const isEarly = at !== null && at <= since + LEFT_WITHIN && at + SILENT_AFTER < until;
    return state === 'ended' && isEarly ? [{ file, at }] : [];
  });
  return 2 * ended.length > files.length ? [] : ended;
}

/** ns: a process may do something else before it ends. */
const LEFT_WITHIN = 3e9;

/** Whether their last signs are not newer than the stall. This does not depend on when the files were read. */
const goneAtStall = (silent: readonly Silent[], since: TraceNs): number[] =>
  silent.flatMap(({ file, lastSign }) => ((lastSign ?? -Infinity) < since + SILENT_AFTER ? [file] : []));
