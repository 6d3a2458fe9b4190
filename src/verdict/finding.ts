/** What a rule finds. The headline is the first finding in one order, whatever the rule. */

import { accused, latenessOf, slowLinkOf, stallOf } from './facts/suspects.js';
import type { Scene } from './scene.js';
import type { CallName, Connection, Detail, Evidence, Finding, RuleName, Slowness, Who } from './types.js';

export const NOBODY: Who = {
  ...{ degree: 'nobody known', files: [], some: [], missing: null, node: null, why: null },
};

/** The parts of a finding, whatever finds it, of which nothing is known. */
export const NOTHING_KNOWN = {
  ...{ since: null, until: null, where: null, connection: null, cost: null, who: NOBODY, records: [] },
  ...{ because: null, surer: null, next: null },
} as const;

/** A finding before all are in order. */
export type Found = Omit<Finding, 'because'> & { readonly because: Found | null };

type Said = Pick<Found, 'stands' | 'isSure'> &
  Partial<Pick<Found, 'kind' | 'until' | 'because' | 'surer' | 'next'>>;

/** All its parts follow from what it is `about`, but what the rule itself says of it. */
export const found = (rule: RuleName, about: Detail, { stands, isSure, ...more }: Said): Found => ({
  ...{ rule, kind: about.kind, stands, isSure },
  ...NOTHING_KNOWN,
  ...placeOf(about),
  ...{ who: whoOf(about), connection: connectionOf(about), about },
  ...more,
});

/** `before`: what the rules before it found. */
export type Rule = (scene: Scene, before: readonly Found[]) => readonly Found[];

export const foundBy = (before: readonly Found[], ...rules: readonly RuleName[]): readonly Found[] =>
  before.filter(({ rule }) => rules.includes(rule));

/**
 * What stands comes before what does not, and what is over or cost little comes last. Then what is certain comes before what is possible, a
 * cause before what it explains. Then the order of the rules counts, and the order in which a rule gives its findings: causes first, then the
 * costliest.
 */
export const inOrder = (all: readonly Found[]): Finding[] => {
  const found = all.toSorted(
    (a, b) =>
      Number(b.stands) - Number(a.stands) ||
      Number(a.kind === 'healthy') - Number(b.kind === 'healthy') ||
      Number(b.isSure) - Number(a.isSure) ||
      Number(a.because !== null) - Number(b.because !== null),
  );
  return found.map((one) => ({ ...one, because: one.because && found.indexOf(one.because) }));
};

function connectionOf(about: Detail): Connection | null {
  const front = stallOf(about)?.front;
  if (front) {
    const { file, peerFile, channel, isSend, wait } = front;
    const step = wait?.step ?? null;
    return isSend || peerFile === null
      ? { file, peerFile, channel, step }
      : { file: peerFile, peerFile: file, channel, step };
  }
  const link = slowLinkOf(about);
  return (
    link && {
      file: link.file,
      peerFile: link.peerFile,
      channel: link.channel,
      step: link.stopped?.step ?? null,
    }
  );
}

type Place = Partial<Pick<Finding, 'since' | 'until' | 'where' | 'cost' | 'records'>>;

function placeOf(verdict: Detail): Place {
  const stall = stallOf(verdict);
  if (stall) {
    const { since, until, age, waiting, inside } = stall;
    return {
      ...{ since, until: verdict.kind === 'broken' ? until : null, where: nameOf(stall), cost: age },
      records: evidenceOf([...waiting, ...inside]),
    };
  }
  switch (verdict.kind) {
    case 'slow':
      return late(verdict.slow);
    case 'mismatch': {
      const { commId, comm, ways } = verdict.mismatch;
      const [most] = ways;
      const records = evidenceOf(ways.flatMap((way) => way.entered.slice(0, 1)));
      return { since: most.entered[0]?.at ?? null, where: nameOf({ ...most, commId, comm }), records };
    }
    case 'unclear': {
      const { late: perhaps, idle, work, silent } = verdict.unclear;
      if (perhaps) return late(perhaps);
      if (idle) return { since: idle.since, cost: idle.age };
      if (!work) return { since: silent[0]?.lastSign ?? null };
      return { since: work.at, where: nameOf(work), records: evidenceOf([work]) };
    }
    default:
      return {};
  }
}

const late = ({ from, to, cost, worst }: Slowness): Place => ({
  ...{ since: from, until: to, where: nameOf(worst), cost, records: evidenceOf([worst]) },
});

const nameOf = ({ commId, comm, func, seq, replay }: CallName): CallName => ({
  ...{ commId, comm, func, seq, replay },
});

const evidenceOf = (all: readonly Evidence[]): Evidence[] =>
  all.slice(0, MOST_RECORDS).map(({ file, record, at }) => ({ file, record, at }));

/** As many as anybody looks at. */
const MOST_RECORDS = 8;

/** The ranks that it accuses for the first of its reasons. */
export function whoOf(verdict: Detail): Who {
  const all = [...accused(verdict)];
  const [first] = all;
  if (!first) return NOBODY;
  const same = all.filter(([, label]) => label === first[1]);
  const alike = [...new Map(same.map((one) => [`${one[0]} ${one[2]?.inComm?.join()}`, one])).values()];
  const some = alike.flatMap(([file, , ranks]) => (file === null ? [] : [{ file, ...ranks }]));
  const files = [...new Set(some.map(({ file }) => file))];
  const missing = alike.length > some.length ? (stallOf(verdict)?.front?.peerInComm ?? null) : null;
  // The two ends of a connection, or the two sides of a send: it is one of them.
  const node = files.length > 1 ? (nodeIn(verdict, files) ?? null) : null;
  const isEither = first[1] === 'STUCK' && alike.length > 1;
  const degree = alike.length === 1 ? 'this' : node !== null ? 'node' : isEither ? 'one of' : 'these';
  return { degree, files, some, missing, node, why: first[1] };
}

/** The node whose ranks these are. */
const nodeIn = (verdict: Detail, files: readonly number[]): string | undefined => {
  const node = latenessOf(verdict)?.taker?.node ?? stallOf(verdict)?.front?.node;
  return node && files.every((file) => node.files.includes(file)) ? node.name : undefined;
};
