export const FIRST_TIER: readonly string[];
