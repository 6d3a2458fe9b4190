// What a callback has recorded survives SIGKILL: native/test/sigkill.cc.

import { test } from 'vitest';
import { passes } from './programs.js';
import { inTier } from '../support/tiers/tier.js';

const PLACES: readonly (readonly string[])[] = [
  ['flight'],
  ['stream'],
  ['flight', 'ring-file'],
  ['stream', 'ring-file'],
];
const KILLS = inTier({ first: '10', long: '1000' });
const SECONDS = inTier({ first: '1', long: '2' });

test.for(inTier({ first: [PLACES[0]!, PLACES[3]!], long: PLACES }))(
  'SIGKILL at any instant loses no record whose callback has returned: %s',
  (how, context) => passes(context, ['sigkill', KILLS, SECONDS, ...how]),
);
