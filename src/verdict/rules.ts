/**
 * The rules of the verdict, in the order of docs/verdicts.md. Each is a function from what is known of the run to what it finds. Between
 * findings that stand alike and are alike certain, the rule that comes first has the headline.
 */

import { brokeOff, jobEnded } from './broken_off.js';
import type { Rule } from './finding.js';
import { givenUp } from './given_up.js';
import { idle } from './idleness.js';
import { differentCalls } from './mismatch.js';
import { stoodStill } from './slow_links.js';
import { late, perhapsLate } from './slowness.js';
import { perhapsOver, stuck } from './stuck.js';
import { atWork, died, lostRecords, nothingSeen, perhapsAtWork, perhapsSilent, silent } from './unclear.js';

export const RULES: readonly Rule[] = [
  stuck,
  perhapsOver,
  brokeOff,
  differentCalls,
  idle,
  silent,
  late,
  stoodStill,
  givenUp,
  lostRecords,
  jobEnded,
  died,
  atWork,
  nothingSeen,
  perhapsSilent,
  perhapsLate,
  perhapsAtWork,
];
