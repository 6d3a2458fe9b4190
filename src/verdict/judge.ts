/**
 * Makes a verdict from the joined collectives and each rank's last state. No claim exceeds the evidence. A rank is late only if it came
 * last by more than the clocks' error. A rank never entered only if it was recording before and after. A stall is a hang only if nothing
 * can go on, or if it has lasted much longer than anything before.
 */

import { addTo } from '../base/grouped.js';
import type { Facts } from './case.js';
import type { RankWitness } from './file_facts.js';
import { inOrder, type Found } from './finding.js';
import { knownBugsOf } from './known_bug.js';
import { RULES } from './rules.js';
import { sceneOf } from './make_scene.js';
import type { Detail, Verdict } from './types.js';

export function judge(facts: Facts): Verdict {
  const scene = sceneOf(facts);
  const { ranks, lateness } = scene;
  const { comms, comparable } = facts;
  const findings = inOrder(RULES.reduce<readonly Found[]>((all, rule) => [...all, ...rule(scene, all)], []));
  const [first] = findings;
  const headline: Detail =
    first && first.kind === first.about.kind
      ? first.about
      : { kind: 'healthy', silent: [...scene.silent, ...scene.leftLongAgo] };
  return {
    ...headline,
    findings,
    states: scene.processes.map(({ state }) => state),
    endsNotKnown: ranks.reduce((sum, { pending }) => sum + pending.endsNotKnown, 0),
    endsToSelf: ranks.reduce((sum, { pending }) => sum + pending.endsToSelf, 0),
    partial: ranks.flatMap(({ reach }, file) => (reach.isPartial ? [file] : [])),
    damaged: ranks.flatMap(({ lacks }, file) => (lacks.isDamaged ? [file] : [])),
    lostEntries: ranks.reduce((sum, { lacks }) => sum + lacks.lostEntries, 0),
    unknownComms: {
      works: ranks.reduce((sum, { lacks }) => sum + lacks.unknownComms, 0),
      files: ranks.flatMap(({ lacks }, file) => (lacks.unknownComms > 0 ? [file] : [])),
    },
    sampled: sampled(ranks),
    muted: ranks.flatMap(({ lacks }, file) => (lacks.isMuted ? [file] : [])),
    notRecorded: notRecorded(ranks),
    seen: {
      communicators: comms.length,
      collectives: comms.reduce((sum, { collectives }) => sum + collectives.length, 0),
      works: ranks.reduce((sum, { worksSeen }) => sum + worksSeen, 0),
    },
    lateness: comms.every(({ files }) => comparable(files)),
    unresolved: lateness.unresolved,
    latest: lateness.latest,
    compared: lateness.compared,
    knownBugs: knownBugsOf(headline, ranks),
  };
}

function sampled(ranks: readonly RankWitness[]): Verdict['sampled'] {
  const byNumber = new Map<number | null, number[]>();
  ranks.forEach(({ lacks: { sampleEvery: every } }, file) => {
    if (every !== 1) addTo(byNumber, every, file);
  });
  return [...byNumber].map(([every, files]) => ({ every, files }));
}

function notRecorded(ranks: readonly RankWitness[]): Verdict['notRecorded'] {
  const byEvent = new Map<string, number[]>();
  ranks.forEach((rank, file) => {
    for (const event of rank.lacks.notRecorded) addTo(byEvent, event, file);
  });
  return [...byEvent].map(([event, files]) => ({ event, files }));
}
