/**
 * Ids as the kernel makes them (src/kernel/draw/identity.ts), for what is known only of all ranks: ids that every rank computes from its own data alone, so that files stay independent:
 *  - a transfer (flow): communicator, channel, source, destination, the operation's ordinal on its connection, step;
 *  - a collective (correlation): communicator, function, sequence number, replay ordinal;
 *  - a send/receive (correlation): communicator, source, destination, ordinal.
 */

import { addBigint, addText, addWord, HASH_SEED, toSafeInteger, type Hash64 } from '../base/hash.js';
import { memoized } from '../base/memoized.js';
import type { WorkIdentity } from './work_identity.js';

/** A 64-bit flow id as two unsigned 32-bit halves. Both ends of a transfer compute the same id. */
export interface FlowId {
  readonly hi: number;
  readonly lo: number;
}

/** Interfaces v1 to v3, used through an adapter, never name the communicator. */
const NO_COMM_ID = 0n;

/** Source and destination: ranks in the communicator. */
export interface ConnectionName {
  readonly commId: bigint;
  readonly channel: number;
  readonly source: number;
  readonly destination: number;
}

export function connectionHash({ commId, channel, source, destination }: ConnectionName): Hash64 {
  let hash = addBigint(HASH_SEED, commId);
  for (const word of [channel, source, destination]) hash = addWord(hash, word);
  return hash;
}

/** The part of the id shared by all steps of an operation: connection and ordinal. */
export const operationId = (connection: Hash64, ordinal: number): Hash64 => addWord(connection, ordinal);

/**
 * The steps of an operation share all but the lowest twelve bits. So no step needs a hash of its own, and similar ids compress well. 52
 * bits name the operation. With 10 million operations per trace, two of them collide in one of a hundred traces.
 */
export function transferId(operation: Hash64, step: number): FlowId {
  const { hi, lo } = step >>> STEP_BITS === 0 ? operation : addWord(operation, step >>> STEP_BITS);
  return { hi, lo: ((lo & ~STEP_MASK) | (step & STEP_MASK)) >>> 0 };
}

/** Bits of a flow id that number the steps of one operation. */
const STEP_BITS = 12;
const STEP_MASK = (1 << STEP_BITS) - 1;

/** A transfer's id for sets. */
export const transferName = ({ hi, lo }: FlowId): string => `${hi} ${lo}`;

/** The id in the name, as 64 bits. */
export function readTransferName(name: string): bigint {
  const [hi, lo] = name.split(' ');
  return (BigInt(hi!) << 32n) | BigInt(lo!);
}

/** Equal on all ranks of a collective and at both ends of a send/receive. An ordinal that is not absolute joins nothing. */
export function workCorrelation(work: WorkIdentity | null): number | undefined {
  if (!work?.comm || work.comm.commId === NO_COMM_ID || !work.ordinalAbsolute) return undefined;
  const { comm, kind, func, seq, peer, ordinal } = work;
  if (kind === 'Coll') return collectiveCorrelation(comm.commId, func, seq ?? 0, ordinal);
  const [source, destination] = func === 'Recv' ? [peer, comm.rank] : [comm.rank, peer];
  return identifier(comm.commId, 'Send/Recv', [source ?? -1, destination ?? -1, ordinal]);
}

/** Ids of the arrows from a file's works to what another tool recorded of them: this and the correlation, modulo 2^64. */
export const firstWorkArrow = (file: number): bigint =>
  BigInt.asUintN(64, BigInt(file + 1) * 0x9e3779b97f4a7c15n);

export const workArrow = (file: number, correlation: number): bigint =>
  BigInt.asUintN(64, firstWorkArrow(file) + BigInt(correlation));

export function collectiveCorrelation(commId: bigint, func: string, seq: number, ordinal: number): number {
  return identifier(commId, func, [seq, ordinal]);
}

/** The same for all works of a function: made once. */
const seeds = memoized((commId: bigint) =>
  memoized((what: string) => addText(addBigint(HASH_SEED, commId), what)),
);

function identifier(commId: bigint, what: string, numbers: readonly number[]): number {
  let hash = seeds(commId)(what);
  for (const word of numbers) hash = addWord(hash, word);
  return toSafeInteger(hash);
}

/** Equal on all ranks of a communicator: the id, or the name if NCCL before interface v4 gives none. */
export const commKey = ({ commId, name }: { readonly commId: bigint; readonly name: string }): string =>
  commId === 0n ? `unknown ${name}` : String(commId);
