/** The tier that runs (vitest.config.ts), for tests that are in two: a few cases first, many in the long tier. */

import { inject } from 'vitest';

export type Tier = 'first' | 'ci' | 'long';

declare module 'vitest' {
  export interface ProvidedContext {
    tier: Tier;
  }
}

export const inTier = <T>({ first, long }: { readonly first: T; readonly long: T }): T =>
  inject('tier') === 'long' ? long : first;
