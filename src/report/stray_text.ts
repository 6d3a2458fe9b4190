/** Ranks that never came, as lines of a hang: where each is stuck instead, and whether it is alive. */

import { durationText } from '../base/duration.js';
import type { Hang, Stray } from '../verdict/types.js';
import {
  callText,
  clockTime,
  continued,
  frontText,
  hostOf,
  labelled,
  name,
  rankWithHost,
  someRanks,
  type VerdictReport,
} from './verdict_phrases.js';

/** Groups of ranks in the same call. Further groups are only counted. */
export const MOST_STRAYS = 2;

const TRANSFERS: readonly string[] = ['Send', 'Recv'];

/** Ranks that never came, grouped by the call they are stuck in. */
export function strays(hang: Hang, verb: string, report: VerdictReport): string[] {
  const { neverEntered, seq, waiting, inside } = hang;
  const groups = new Map<string, Stray[]>();
  for (const stray of neverEntered) {
    const { stuckIn, newest } = stray;
    const key = stuckIn ? `${stuckIn.commId} ${callText(stuckIn)}` : newest ? callText(newest) : '';
    groups.set(key, [...(groups.get(key) ?? []), stray]);
  }
  const isCalled = inside.some(({ func }) => !TRANSFERS.includes(func));
  const label = isCalled
    ? 'never called'
    : seq === null
      ? 'other side'
      : verb === 'WAITING'
        ? 'not entered'
        : 'never entered';
  const all = [...groups.values()];
  const lines = all.slice(0, MOST_STRAYS).flatMap((group) => strayLines(label, group, hang, report));
  const rest = all.slice(MOST_STRAYS).flat();
  if (rest.length > 0) lines.push(labelled(label, `${someRanks(rest, hang.nRanks, report)} as well`));
  if (neverEntered.length > 0 && waiting.length + inside.length === 0)
    lines.push('  the others entered; NCCL does not say whether it ended there');
  return lines;
}

function strayLines(label: string, group: readonly Stray[], hang: Hang, report: VerdictReport): string[] {
  const { nRanks } = hang;
  const [first] = group as [Stray];
  const { stuckIn, isIn, newest, file, elsewhere } = first;
  const isOne = group.length === 1;
  const all = someRanks(group, nRanks, report);
  const one = first.inComm ? `${all} (${hostOf(report, file)})` : `rank ${rankWithHost(report, file)}`;
  const who = isOne ? one : all;
  const lines = [labelled(label, isOne ? `${who}, ${lifeText(first, hang, report)}` : who)];
  if (stuckIn) {
    lines.push(continued(`stuck in ${callText(stuckIn)} since ${clockTime(report, stuckIn.at)}`));
    if (stuckIn.front) lines.push(continued(frontText(stuckIn.front, stuckIn, report)));
  } else if (elsewhere)
    lines.push(continued(`at work: ${callText(elsewhere)}, ${clockTime(report, elsewhere.at)}`));
  else if (isIn) lines.push(continued(`inside nccl${name(isIn.func)} since ${clockTime(report, isIn.at)}`));
  else if (newest)
    lines.push(continued(`last there: ${callText(newest, '')}, ${clockTime(report, newest.at)}`));
  else lines.push(continued('it has nothing unfinished, there or elsewhere'));
  return lines;
}

function lifeText(
  { knownUntil, lastSign, isAlive, file, left }: Stray,
  { until, isRelated }: Hang,
  report: VerdictReport,
): string {
  if (left !== null) return `it destroyed the communicator at ${clockTime(report, left)}`;
  if (isAlive) return 'alive';
  if (report.ranks[file]!.life === 'closed' || knownUntil === null) return 'its process ended in order';
  if (lastSign === null) return 'never a heartbeat';
  if (!isRelated) return `last heartbeat ${clockTime(report, lastSign)} of its own clock`;
  const ago = Math.max(0, until - lastSign);
  return ago < 1.5e9 ? `alive to the end` : `last heartbeat ${durationText(ago)} before the end`;
}
