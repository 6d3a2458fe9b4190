/** The tier that runs (vitest.config.ts), for tests that are in each: a few cases first, all of them in CI, many in the long tier. */

import { inject } from 'vitest';

export type Tier = 'first' | 'ci' | 'long';

declare module 'vitest' {
  export interface ProvidedContext {
    tier: Tier;
  }
}

export const inTier = <T>(of: Readonly<Record<Tier, T>>): T => of[inject('tier')];
