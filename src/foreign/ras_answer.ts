/**
 * One answer of NCCL's RAS in JSON (`ncclras -f json -v`), checked. An answer is believed as a whole or not at all: collectors cut long ones off
 * without a word, so its counts must agree with its lists, and its last part must be there.
 */

export interface RasRank {
  /** In the communicator. */
  readonly rank: number;
  readonly host: string;
  readonly pid: number;
  /** ncclResult_t; 0: none. */
  readonly asyncError: number;
  /** By function: how many RAS has counted. Those of captured graphs are not among them, unless NCCL profiles KernelCh. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Its process does not answer. */
export interface RasMissing extends Omit<RasRank, 'asyncError' | 'counts'> {
  readonly isDead: boolean;
}

export interface RasCommunicator {
  /** NCCL's commHash. RAS writes it without leading zeros. */
  readonly hash: bigint;
  readonly nRanks: number;
  readonly ranks: readonly RasRank[];
  readonly missing: readonly RasMissing[];
}

export interface RasAnswer {
  readonly version: string;
  /** As RAS writes it, in the time zone of its host. */
  readonly at: string;
  readonly communicators: readonly RasCommunicator[];
}

/** The message says why an answer is not used, without its source. */
export class RasError extends Error {
  override readonly name = 'RasError';
}

/** Throws RasError. */
export function readRas(text: string): RasAnswer {
  const answer = object(parsed(text), 'the answer');
  const communicators = list(answer, 'communicators').map(communicatorIn);
  checkCount(answer, 'communicators_count', communicators.length);
  // RAS writes this one last.
  object(answer.ras, 'ras');
  return { version: word(answer, 'nccl_version'), at: word(answer, 'timestamp'), communicators };
}

function parsed(text: string): unknown {
  if (text.trim() === '') throw new RasError('is empty');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new RasError(
      text.startsWith('NCCL version ')
        ? "is RAS' text; take its JSON: ncclras -f json -v"
        : 'is cut off, or no JSON of RAS; take it again: ncclras -f json -v',
    );
  }
}

function communicatorIn(value: unknown): RasCommunicator {
  const one = object(value, 'a communicator');
  const hash = word(one, 'hash');
  if (!/^0x[0-9a-f]{1,16}$/i.test(hash)) throw new RasError(`has no hash where ${hash.slice(0, 40)} is`);
  const ranks = list(one, 'ranks').map(rankIn);
  const missing = list(one, 'missing_ranks').map((gone): RasMissing => {
    const status = object(object(gone, 'a missing rank').status, 'status');
    return { ...placeIn(gone), isDead: status.considered_dead === true };
  });
  checkCount(one, 'ranks_count', ranks.length);
  checkCount(one, 'missing_ranks_count', missing.length);
  const nRanks = count(one, 'size');
  const all = [...ranks, ...missing].map(({ rank }) => rank);
  if (new Set(all).size < all.length || all.some((rank) => rank >= nRanks))
    throw new RasError(`names ranks twice, or more than the ${nRanks} of communicator ${hash}`);
  return { hash: BigInt(hash), nRanks, ranks, missing };
}

function rankIn(value: unknown): RasRank {
  const rank = object(value, 'a rank');
  const counts = object(rank.collective_counts, 'collective_counts');
  return {
    ...placeIn(value),
    asyncError: count(object(rank.status, 'status'), 'async_error'),
    counts: Object.fromEntries(Object.keys(counts).map((func) => [func, count(counts, func)])),
  };
}

const placeIn = (value: unknown): Omit<RasRank, 'asyncError' | 'counts'> => {
  const one = object(value, 'a rank');
  return { rank: count(one, 'rank'), host: word(one, 'host'), pid: count(one, 'pid') };
};

type Fields = Readonly<Record<string, unknown>>;

function object(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RasError(`has no fields where ${what} should be, so it is cut off or of another version`);
  return value as Fields;
}

function list(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value))
    throw new RasError(`has no list ${name}, so it is cut off or of another version`);
  return value as unknown[];
}

function word(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length > 256)
    throw new RasError(`has no text where ${name} should be`);
  return value;
}

function count(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new RasError(`has no whole number where ${name} should be`);
  return value;
}

function checkCount(fields: Fields, name: string, found: number): void {
  const said = count(fields, name);
  if (said !== found) throw new RasError(`says ${name} ${said} and lists ${found}, so it is not complete`);
}
