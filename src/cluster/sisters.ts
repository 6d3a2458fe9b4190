/**
 * Sister communicators: of the same name and size, and no process is in two of them, as the data-parallel groups of a job. What one of them
 * does, the others do.
 */

export interface Sister {
  readonly commId: bigint;
  readonly name: string;
  readonly nRanks: number;
}

/** Communicator → a name that it has in common with its sisters. `files`: the communicators of each file. */
export function sisterNames(files: readonly (readonly Sister[])[]): ReadonlyMap<bigint, string> {
  const names = new Map<bigint, string>();
  const mixed = new Set<string>();
  for (const comms of files) {
    const own = new Map<string, bigint>();
    for (const { commId, name, nRanks } of comms) {
      const common = `${nRanks} ${name}`;
      if ((own.get(common) ?? commId) !== commId) mixed.add(common);
      own.set(common, commId);
      names.set(commId, common);
    }
  }
  return new Map([...names].map(([commId, name]) => [commId, mixed.has(name) ? `${commId}` : name]));
}
