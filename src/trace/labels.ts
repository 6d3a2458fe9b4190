/** Names of ranks and of the trace for people: process titles and the facts on the UI's overview page. */

import { maxOf } from '../base/extremes.js';
import { processTitle } from '../runs/process_title.js';
import { hex64 } from '../base/hex.js';
import { foldRanks } from '../base/ranks.js';
import { addBigint, addWord, HASH_SEED, type Hash64 } from '../base/hash.js';
import type { ClockSolution } from '../clocks/domains.js';
import type { ProcessSpec } from './perfetto/descriptors.js';
import { announcement } from './perfetto/last_packet.js';
import { prologue, type PrologueOptions } from './perfetto/prologue.js';
import type { Run, RunMember } from '../runs/run.js';
import type { Verdict } from '../verdict/types.js';
import type { RankScan } from '../scan/scan.js';
import { suspects, type Suspect } from '../verdict/facts/suspects.js';
import { processName } from './titles.js';

/** The UI prints the pid after the name. So this pid is far from real pids and contains the rank. */
export const PID_BASE = 1_000_000;
/** Files without a rank, and those of replaced processes, come last. */
const NO_RANK_PID_BASE = 2_000_000_000;

/** `accused`: files of suspects, the most suspect first. They come before all others. */
export function processSpec(member: RunMember, file: number, accused: readonly Suspect[] = []): ProcessSpec {
  const { scan, rank, isReplaced } = member;
  const { header } = scan;
  const parts = [
    processTitle(member),
    header.hostName,
    ...(header.localRank === null ? [] : [`gpu${header.localRank}`]),
  ] as const;
  const place = accused.findIndex((one) => one.file === file);
  const pid = rank === null || isReplaced ? NO_RANK_PID_BASE + file : PID_BASE + rank;
  return {
    pid,
    name: processName(parts, accused[place]?.label ?? null),
    orderRank: place < 0 ? pid : place,
    description: describe(scan),
  };
}

/** Prefix of a track's name: "rank 3". */
export const shortTitle = ({ ranks }: Pick<RunMember, 'ranks'>): string =>
  ranks.length === 0 ? 'rank unknown' : `rank${ranks.length > 1 ? 's' : ''} ${foldRanks(ranks)}`;

function describe({ header, communicators }: RankScan): string {
  const facts = [
    `pid ${header.process.pid} on ${header.hostName}`,
    header.program === '' ? '' : `program ${header.program}`,
    header.gpu === '' ? '' : `GPU ${header.gpu}`,
    `recorded by ${header.recorderVersion || 'an unknown recorder'} in ${header.mode} mode, ${header.life} when read`,
    `communicators: ${communicators.map((comm) => comm.name || hex64(comm.commId)).join(', ') || 'none'}`,
  ];
  return facts.filter((fact) => fact !== '').join('; ');
}

/** `slices`: in the whole trace. `more`: attributes besides those of the run. */
export function tracePrologue(
  run: Run,
  clocks: ClockSolution,
  verdict: Verdict,
  slices: number,
  more: PrologueOptions['attributes'] = [],
): Uint8Array {
  const { traceStart, domains } = clocks;
  return prologue({
    traceStart,
    bootTime: bootTimeAt(run, traceStart),
    uuid: traceUuid(run),
    attributes: [
      ['nccl_trace.ranks', run.members.length],
      ['nccl_trace.world_size', run.worldSize],
      ['nccl_trace.missing_ranks', run.missing.join(',') || 'none'],
      ['nccl_trace.verdict', verdict.kind],
      ['nccl_trace.suspects', suspectTitles(run, verdict)],
      ['nccl_trace.clock_domains', domains.length],
      ['nccl_trace.clock_source', clockSource(clocks)],
      ['nccl_trace.clock_hard_bound_ns', worstBound(clocks, 'hardBound')],
      ['nccl_trace.clock_bound99_ns', worstBound(clocks, 'bound99')],
      ['nccl_trace.records', run.members.reduce((sum, { scan }) => sum + scan.records, 0)],
      ['nccl_trace.recorder', run.members[0]?.scan.header.recorderVersion ?? ''],
      announcement(slices),
      ...more,
    ],
  });
}

/** Titles of their processes, the most suspect first. */
const suspectTitles = ({ members }: Run, verdict: Verdict): string =>
  suspects(verdict)
    .map((file) => processTitle(members[file]!))
    .join('; ') || 'none';

function clockSource({ domains }: ClockSolution): string {
  const sources = new Set(domains.flatMap(({ map }) => map.segments.map(({ source }) => source)));
  if (sources.has('own-counter')) return 'one counter, exact';
  if (!sources.has('traffic')) return 'REALTIME, unbounded error';
  return sources.has('realtime')
    ? 'transfers between hosts; some hosts by REALTIME, unbounded error'
    : 'transfers between hosts';
}

/** The worst bound of all hosts over the whole run. */
function worstBound({ domains }: ClockSolution, bound: 'hardBound' | 'bound99'): number | string {
  const worst = maxOf(
    domains.flatMap(({ map }) => map.segments.map((segment) => segment[bound])),
    0,
  );
  return Number.isFinite(worst) ? Math.ceil(worst) : 'unbounded';
}

/** The first rank's host provides BOOTTIME, because a trace has only one. */
function bootTimeAt(run: Run, traceStart: bigint): bigint | undefined {
  const sample = run.members[0]?.scan.clockSamples.at(-1);
  if (!sample) return undefined;
  const boot = sample.boottime - (sample.realtime - traceStart);
  return boot > 0n ? boot : undefined;
}

/** Derived from the inputs, so that the same files give the same bytes. */
function traceUuid(run: Run): { high: bigint; low: bigint } {
  let first: Hash64 = HASH_SEED;
  for (const { scan } of run.members) {
    first = addBigint(addBigint(first, scan.header.tag), scan.header.tickBase);
    first = addWord(first, scan.records);
  }
  const second = addWord(first, run.members.length);
  return { high: join(first), low: join(second) };
}

function join({ hi, lo }: Hash64): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}
