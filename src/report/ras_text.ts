/** What NCCL's RAS says, joined with a diagnosis: in its data, and as lines of its text. */

import { besideRas, type RasReport } from '../foreign/ras_beside.js';
import type { RasAnswer } from '../foreign/ras_answer.js';
import { stallOf } from '../verdict/facts/suspects.js';
import type { Diagnosis } from './diagnosed.js';
import { continued, labelled } from './verdict_phrases.js';

export function withRas(found: Diagnosis, answer: RasAnswer): Diagnosis {
  const hang = stallOf(found.verdict);
  const neverEntered = hang?.neverEntered.flatMap(({ file }) => found.ranks[file]?.rank ?? []) ?? [];
  const stall = hang && { ...hang, neverEntered };
  return { ...found, ras: besideRas(answer, found.communicators, stall) };
}

export const rasLines = ({ says, at }: RasReport): string[] => [
  ...says.map((one, i) => (i === 0 ? labelled('RAS', one) : continued(one))),
  continued(`(RAS' answer of ${at}, its host's time)`),
];
