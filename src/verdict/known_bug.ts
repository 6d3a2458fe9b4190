/** The known bugs of NCCL (known_bugs.ts) that fit to a hang: its symptom is found, and the versions of NCCL that its ranks may have fit. */

import { KNOWN_BUGS } from './known_bugs.js';
import { stallOf } from './facts/suspects.js';
import type { RankWitness } from './file_facts.js';
import type { Detail, FittingBug, Hang, KnownBug } from './types.js';

type Shows = (hang: Hang, ranks: readonly RankWitness[]) => boolean;

const SYMPTOMS: Readonly<Record<Exclude<KnownBug['symptom'], 'work not reported'>, Shows>> = {
  'inside ncclGroupEnd': ({ unhanded }) => unhanded.length > 0,
  'receive not posted': ({ front }) => front?.isUnposted === true,
  'lost on the wire': (hang) =>
    nobodyIsMissing(hang) && hang.front?.peerIsPast === true && hang.front.onWire.length > 0,
  'all-to-all': (hang) =>
    nobodyIsMissing(hang) &&
    hang.func === 'Recv/Send' &&
    hang.waiting.length >= hang.nRanks &&
    hang.circle.length === 0,
  'plans differ': (hang, ranks) => nobodyIsMissing(hang) && plansIn(hang, ranks).size > 1,
  'no other side': ({ unmatched }) => unmatched.length > 0,
};

/** All came, live, and called the same. */
const nobodyIsMissing = ({ neverEntered, silent, ended, mismatch, unmatched, unhanded }: Hang): boolean =>
  neverEntered.length + silent.length + ended.length + unmatched.length + unhanded.length === 0 &&
  mismatch === null;

/** As RING/SIMPLE; of a collective. */
const plansIn = ({ seq, waiting }: Hang, ranks: readonly RankWitness[]): ReadonlySet<string> =>
  new Set(
    waiting.flatMap(({ file, record }) => {
      const work = ranks[file]!.pending.works.find((one) => one.record === record);
      return seq === null || !work || work.plan === '' ? [] : [work.plan];
    }),
  );

export function knownBugsOf(verdict: Detail, ranks: readonly RankWitness[]): FittingBug[] {
  const hang = stallOf(verdict);
  const unseen = hang
    ? unreportedIn(hang)
    : verdict.kind === 'unclear'
      ? (verdict.unclear.idle?.last ?? null)
      : null;
  const [commId, size] = [hang?.commId ?? unseen?.commId ?? null, hang?.nRanks ?? 0];
  const files = hang?.members ?? ranks.map((_, file) => file);
  const versions = versionsOf(files, commId, ranks);
  const machines = new Set(files.map((file) => ranks[file]!.architecture));
  return KNOWN_BUGS.flatMap((bug): FittingBug[] => {
    const isShown =
      bug.symptom === 'work not reported'
        ? unseen !== null && unseen.func === bug.func
        : hang !== null && SYMPTOMS[bug.symptom](hang, ranks);
    if (!isShown || size < (bug.ranks ?? 0) || (bug.on !== null && !machines.has(bug.on)) || !versions)
      return [];
    const [from, before] = [
      bug.from === null ? 0 : numberOf(bug.from),
      bug.before === null ? Infinity : numberOf(bug.before),
    ];
    if (versions.before <= from || versions.from >= before) return [];
    return [{ ...bug, isSure: versions.from >= from && versions.before <= before, version: versions.text }];
  });
}

const unreportedIn = ({
  unseen,
  inside,
  commId,
}: Hang): { readonly func: string; readonly commId: string | null } | null => {
  const call = unseen ?? inside.find(({ hasReturned }) => hasReturned);
  return call ? { func: call.func, commId } : null;
};

interface Versions {
  readonly from: number;
  readonly before: number;
  readonly text: string;
}

/** The exact version, else all that have its profiler interface. null: the interface is not the same on all ranks. */
function versionsOf(
  files: readonly number[],
  commId: string | null,
  ranks: readonly RankWitness[],
): Versions | null {
  const all = files.flatMap((file) => [...ranks[file]!.communicators.values()]);
  const own = all.filter((comm) => commId === null || comm.commId === BigInt(commId));
  const [abi, ...more] = [...new Set(own.map((comm) => comm.abi))];
  const known = abi === undefined || more.length > 0 ? undefined : OF_INTERFACE[abi - 1];
  if (!known) return null;
  const [text, from, before] = known;
  const range = { text, from: numberOf(from), before: before === null ? Infinity : numberOf(before) };
  // One is enough, because NCCL refuses a communicator of several versions. But a process may have two NCCLs.
  const told = files.map((file) => ranks[file]!.ncclVersion).filter((version) => version !== null);
  const [exact = '', ...others] = new Set(told);
  const at = others.length > 0 ? NaN : numberOf(exact);
  return at >= range.from && at < range.before ? { text: exact, from: at, before: at + 1 } : range;
}

/** By interface, from v1 on: the versions in words, the first one, and the first one that has the next interface. */
const OF_INTERFACE: readonly (readonly [text: string, from: string, before: string | null])[] = [
  ['2.23', '2.23', '2.24'],
  ['2.24 or 2.25', '2.24', '2.26'],
  ['2.26', '2.26', '2.27'],
  ['2.27', '2.27', '2.28'],
  ['2.28', '2.28', '2.29'],
  ['2.29 or 2.30', '2.29', '2.31'],
  ['2.31 or newer', '2.31', null],
];

/** "2.29.3" is larger than "2.29". */
const numberOf = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return (major * 1000 + minor) * 1000 + patch;
};
