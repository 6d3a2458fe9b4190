/** Why nothing was built, in one sentence, or undefined. Throws what the compiler said. */
export function ensureNative(options: {
  readonly root: string;
  readonly what: string;
  readonly only: readonly string[];
  readonly warningsAreErrors: boolean;
  readonly onStart?: () => void;
}): Promise<string | undefined>;
