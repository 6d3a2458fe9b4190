/**
 * Ids that every rank computes from its own data alone, so that files stay independent (src/model/identity.ts): of a transfer (flow), and
 * of a collective or send/receive (correlation).
 */

import { Host, Op, Work } from '../event';
import { Comm } from '../comm';
import { file } from '../file';
import { TextFlag } from '../file_texts';
import { newHash } from '../hash';

/** Bits of a flow id that number the steps of one operation. */
const STEP_BITS: u32 = 12;
const STEP_MASK: u64 = (1 << STEP_BITS) - 1;

/** Interfaces v1 to v3, used through an adapter, never name the communicator. */
function hasId(comm: Comm): bool {
  return comm.isKnown && comm.commId != 0;
}

/** The part of the id that all transfers of a connection share. 0: the other end cannot know it. */
export function transfersOf(op: Op): u64 {
  const comm = op.comm;
  if (op.isLost || !hasId(comm)) return 0;
  const hash = newHash();
  hash.addLong(comm.commId);
  hash.addWord(op.channel);
  hash.addWord(op.isSend ? comm.rank : op.peer);
  hash.addWord(op.isSend ? op.peer : comm.rank);
  return hash.bits;
}

/** The part of the id shared by all steps of an operation: connection and ordinal. */
export function operationId(connection: u64, ordinal: u32): u64 {
  return wordAdded(connection, ordinal);
}

/**
 * The steps of an operation share all but the lowest twelve bits. So no step needs a hash of its own, and similar ids compress well. 52
 * bits name the operation. With 10 million operations per trace, two of them collide in one of a hundred traces.
 */
export function transferId(operation: u64, step: u32): u64 {
  const hash = step >> STEP_BITS == 0 ? operation : wordAdded(operation, step >> STEP_BITS);
  return (hash & ~STEP_MASK) | ((<u64>step) & STEP_MASK);
}

/** The bits that all steps of an operation share, as a number. */
export function operationNumber(operation: u64): f64 {
  return <f64>(operation >> STEP_BITS);
}

function wordAdded(hash: u64, word: u32): u64 {
  const one = newHash();
  one.setBits(hash);
  one.addWord(word);
  return one.bits;
}

/** Equal on all ranks of a collective and at both ends of a send/receive; 0: none. An ordinal that is not absolute joins nothing. */
export function workCorrelation(work: Work): f64 {
  if (!isNaN(work.correlation)) return work.correlation;
  return (work.correlation = newCorrelation(work));
}

function newCorrelation(work: Work): f64 {
  const comm = work.comm;
  if (!hasId(comm) || !work.isOrdinalAbsolute) return 0;
  const hash = newHash();
  hash.addLong(comm.commId);
  if (work.isColl) {
    hash.addText(work.func);
    hash.addWord(<u32>(<u64>work.seq));
  } else {
    hash.addString('Send/Recv');
    const isRecv = file().hasText(work.func, TextFlag.IsRecv);
    hash.addWord(isRecv ? work.peer : comm.rank);
    hash.addWord(isRecv ? comm.rank : work.peer);
  }
  hash.addWord(work.ordinal);
  return hash.number;
}

/** A collective of the copy engines: NCCL numbers it apart from the collectives of its kernels. */
export function copyCorrelation(host: Host, seq: f64): f64 {
  const comm = host.comm;
  if (!hasId(comm)) return 0;
  const hash = newHash();
  hash.addLong(comm.commId);
  hash.addText(host.func, 'CE ');
  hash.addWord(<u32>(<u64>seq));
  return hash.number;
}
