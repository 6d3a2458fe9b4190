export function ensureCodeCache(root: string): void;
