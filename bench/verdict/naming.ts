/**
 * The ranks a verdict names, from the JSON of `inspect`, in the order of the lines, group by group. The only file of the benchmark that
 * knows the verdict's shape.
 */

import type { VerdictKind } from './case.js';

export interface Naming {
  readonly kind: VerdictKind;
  /** Ranks of the world. The first group is what the headline says; the others follow in the text. */
  readonly groups: readonly (readonly number[])[];
  /** Of a slow rank: the communicator's id. */
  readonly comm: string | null;
  /** Of a slow rank: the oldest collective that was seen, by its seq. Full rings hold the newest part of a run. */
  readonly firstSeq: number;
  /** Who it says was late, though not enough to be called slow; null: nobody. */
  readonly late: number | null;
  /** Of a slow rank: what of it; null: not said. */
  readonly on: 'host' | 'GPU' | null;
  /** Sources of the known bugs of NCCL that it tells. */
  readonly bugs: readonly string[];
}

const NOBODY = { groups: [], comm: null, firstSeq: 0, late: null, on: null, bugs: [] };

/** What is read of the diagnosis; anything may be absent. */
interface Diagnosis {
  readonly verdict: { readonly kind: VerdictKind } & Partial<Record<string, unknown>>;
  /** `ranks`: of a process that has several. */
  readonly ranks: readonly { readonly rank: number; readonly ranks?: readonly number[] }[];
  readonly missingRanks: readonly number[];
}

interface Headline {
  readonly who: { readonly some: readonly { readonly inComm?: readonly number[] }[] };
}

interface FileEntry {
  readonly file: number;
  readonly mayBeCopy?: boolean;
}

interface Front {
  readonly file: number;
  readonly peerFile: number | null;
  readonly peerInComm: number;
  readonly peerIsPast: boolean;
  readonly isUnposted?: boolean;
  readonly wait: { readonly name: string } | null;
  readonly node: Node | null;
}

/** One of these, because the inside of their node is not recorded. */
interface Node {
  readonly files: readonly number[];
}

interface Hang {
  readonly neverEntered?: readonly FileEntry[];
  readonly silent?: readonly FileEntry[];
  readonly ended?: readonly FileEntry[];
  readonly different?: readonly number[];
  readonly alone?: readonly number[];
  readonly mismatch?: Mismatch | null;
  readonly unhanded?: readonly FileEntry[];
  readonly unseen?: { readonly last: readonly FileEntry[] } | null;
  readonly front?: Front | null;
  readonly nRanks?: number;
  readonly missing?: readonly number[];
  readonly kernels?: readonly (FileEntry & { readonly isLeast: boolean })[];
}

interface Mismatch {
  readonly what: string;
  readonly ways: readonly { readonly entered: readonly FileEntry[] }[];
}

/** As many ranks called one thing as the other, so nobody is accused. */
const isTie = ({ what, ways: [most, other] }: Mismatch): boolean =>
  (what === 'calls' || what === 'arguments') && most?.entered.length === other?.entered.length;

interface Slow {
  readonly commId: string;
  readonly on?: 'host' | 'GPU';
  readonly leftOut?: { readonly first: string | null };
}

export function namingOf(diagnosis: Diagnosis | null): Naming {
  if (diagnosis === null) return { kind: 'none', ...NOBODY };
  const { verdict, ranks, missingRanks } = diagnosis;
  const ofFiles = (files: readonly (number | null)[]): number[] =>
    files.flatMap((file) => (file === null ? [] : [ranks[file]?.rank ?? -1]));
  const groups = fileGroups(verdict).map(ofFiles);
  // Ranks of processes with several GPUs are told apart by their number in the communicator: here the world.
  if (ranks.some((one) => one.ranks !== undefined))
    groups.unshift(
      (verdict.findings as readonly Headline[])[0]?.who.some.flatMap(({ inComm }) => inComm ?? []) ?? [],
    );
  const absent = absentPeer(verdict, ranks.length + missingRanks.length);
  // Before both ends of the line, which come last.
  if (absent !== null) groups.splice(-1, 0, [absent]);
  // Another rank without a file can only be named as one.
  const isStanding = ['hung', 'waiting', 'broken', 'unclear'].includes(verdict.kind);
  if (isStanding) groups.push([...missingRanks]);
  const filled = groups.map((group) => [...new Set(group)]).filter((group) => group.length > 0);
  const slow = verdict.slow as Slow | undefined;
  const latest = verdict.latest as FileEntry | null | undefined;
  return {
    kind: verdict.kind,
    groups: filled,
    comm: slow?.commId ?? null,
    firstSeq: Number(/\d+$/.exec(slow?.leftOut?.first ?? '')?.[0] ?? 0),
    late: latest ? (ranks[latest.file]?.rank ?? null) : null,
    on: slow?.on ?? null,
    bugs: ((verdict.knownBugs ?? []) as { source: string }[]).map(({ source }) => source),
  };
}

/** What is read of a comparison. */
interface Compared {
  readonly choices: readonly unknown[];
}

export const namingOfDiff = ({ choices }: Compared): Naming => ({
  ...NOBODY,
  kind: choices.length > 0 ? 'chosen otherwise' : 'healthy',
});

/** What is read of the verdict on dumps alone. */
interface DumpVerdict {
  readonly kind: 'hung' | 'mismatch' | 'pending' | 'quiet';
  readonly findings: readonly { readonly who: { readonly ranks: readonly number[] } }[];
}

export function namingOfDumps(found: { readonly verdict: DumpVerdict } | null): Naming {
  if (found === null) return { kind: 'none', ...NOBODY };
  const { kind, findings } = found.verdict;
  const groups = findings.map(({ who }) => who.ranks).filter((group) => group.length > 0);
  return { ...NOBODY, groups, kind: kind === 'pending' ? 'waiting' : kind === 'quiet' ? 'healthy' : kind };
}

function fileGroups(verdict: Diagnosis['verdict']): (number | null)[][] {
  switch (verdict.kind) {
    case 'slow': {
      // Of slow sends there is neither.
      const {
        file,
        taker,
        together = [],
      } = verdict.slow as FileEntry & {
        readonly taker?: { readonly node: Node | null } | null;
        readonly together?: readonly FileEntry[];
      };
      return [[...(taker?.node?.files ?? (together.length > 0 ? together.map((one) => one.file) : [file]))]];
    }
    case 'mismatch': {
      const mismatch = verdict.mismatch as Mismatch;
      if (isTie(mismatch)) return [];
      return [mismatch.ways.slice(1).flatMap(({ entered }) => entered.map(({ file }) => file))];
    }
    case 'hung':
      return hangGroups(verdict.hang as Hang);
    case 'waiting':
      return hangGroups((verdict.waiting as { stall: Hang }).stall);
    case 'broken': {
      const { gone, stall, wasBusy } = verdict.broken as {
        gone: readonly FileEntry[];
        stall: Hang;
        wasBusy: boolean;
      };
      if (wasBusy) return [];
      return [gone.map(({ file }) => file), ...hangGroups(stall)];
    }
    case 'unclear': {
      const { idle, silent } = verdict.unclear as {
        idle: { behind: readonly { files: readonly number[] }[] } | null;
        silent: readonly FileEntry[];
      };
      return [silent.map(({ file }) => file), ...(idle?.behind ?? []).map(({ files }) => [...files])];
    }
    default:
      return [];
  }
}

function hangGroups(hang: Hang): (number | null)[][] {
  const { neverEntered = [], silent = [], ended = [], different = [], front = null, kernels = [] } = hang;
  if (hang.mismatch && isTie(hang.mismatch)) return [];
  if (hang.alone && hang.alone.length > 0) return [[...hang.alone]];
  return [
    different.length <= 4 ? [...different] : [],
    silent.filter(({ mayBeCopy }) => mayBeCopy !== true).map(({ file }) => file),
    ended.map(({ file }) => file),
    neverEntered.map(({ file }) => file),
    (hang.unseen?.last ?? []).map(({ file }) => file),
    (hang.unhanded ?? []).map(({ file }) => file),
    kernels.filter(({ isLeast }) => isLeast).map(({ file }) => file),
    frontFiles(front),
    // The line names both ends.
    front === null || front.node ? [] : [front.file, front.peerFile],
  ];
}

/** Whoever waits for its peer names it; on the wire either may be to blame; else it is its own GPU, proxy or PCIe. */
function frontFiles(front: Front | null): (number | null)[] {
  if (front === null) return [];
  if (front.node) return [...front.node.files];
  if (front.peerIsPast || front.isUnposted === true) return [front.file];
  const wait = front.wait?.name ?? 'send wait';
  if (wait === 'send wait') return [front.file, front.peerFile];
  const needsPeer = wait === 'recv wait' || wait === 'peer wait';
  return [needsPeer ? front.peerFile : front.file];
}

/** Of the world: its ranks are the job's. */
function absentPeer({ hang, waiting }: Diagnosis['verdict'], jobSize: number): number | null {
  const stall = (hang ?? (waiting as { stall: unknown } | undefined)?.stall) as Hang | undefined;
  const front = stall?.front;
  return front?.peerFile === null && stall?.nRanks === jobSize ? front.peerInComm : null;
}
