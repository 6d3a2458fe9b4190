/** What NCCL's RAS says, joined with a diagnosis: in its data, and as lines of its text. */

import { besideRas, type RasReport } from '../foreign/ras_beside.js';
import type { RasAnswer } from '../foreign/ras_answer.js';
import { stallOf } from '../verdict/facts/suspects.js';
import type { Diagnosis } from './diagnosed.js';
import { wrapped, ROOM, continued, listed } from './text.js';

export function withRas(found: Diagnosis, answer: RasAnswer): Diagnosis {
  const hang = stallOf(found.verdict);
  const neverEntered = hang?.neverEntered.flatMap(({ file }) => found.ranks[file]?.rank ?? []) ?? [];
  const stall = hang && { ...hang, neverEntered };
  return { ...found, ras: besideRas(answer, found.communicators, stall) };
}

/** A terminal has room for so many sentences of a job of thousands of ranks. */
const MOST_SAID = 6;

export function rasLines({ says, at }: RasReport): string[] {
  const more = says.length - MOST_SAID;
  return [
    ...listed(
      'RAS',
      says.slice(0, MOST_SAID).flatMap((one) => wrapped(one, ROOM)),
    ),
    ...(more > 0 ? [continued(`${more} more sentences are in --json`)] : []),
    continued(`(RAS' answer of ${at}, its host's time)`),
  ];
}
