/** Rows that are used again. A file has some hundred events at a time and millions in all, so its memory stays small. */

import { Block, Claims, Event, Host, Op, Type, Work } from './event';
import { Comm } from './comm';
import { file } from './file';

let hosts: Host[] = [];
let ops: Op[] = [];
let blocks: Block[] = [];
let claims: Claims[] = [];
/** Rows as they are when they are new. */
let newHost: Host | null = null;
let newOp: Op | null = null;
let newBlock: Block | null = null;

/** Call it for each file: the rows of the file before are gone. */
export function beginRows(): void {
  hosts = [];
  ops = [];
  blocks = [];
  claims = [];
  const unknownComm = file().unknownComm;
  newHost = new Host(Type.Host, unknownComm);
  newOp = new Op(Type.Op, unknownComm);
  newBlock = new Block(Type.Block, unknownComm);
}

export function takeHost(comm: Comm): Host {
  if (hosts.length == 0) return new Host(Type.Host, comm);
  const host = hosts.pop();
  const slots = host.slots;
  renew(changetype<usize>(host), changetype<usize>(newHost), offsetof<Host>());
  host.slots = slots;
  host.comm = comm;
  return host;
}

export function takeOp(comm: Comm): Op {
  if (ops.length == 0) return new Op(Type.Op, comm);
  const op = ops.pop();
  const openSteps = op.openSteps;
  renew(changetype<usize>(op), changetype<usize>(newOp), offsetof<Op>());
  op.openSteps = openSteps;
  op.comm = comm;
  return op;
}

export function takeBlock(comm: Comm): Block {
  if (blocks.length == 0) return new Block(Type.Block, comm);
  const block = blocks.pop();
  renew(changetype<usize>(block), changetype<usize>(newBlock), offsetof<Block>());
  block.comm = comm;
  return block;
}

function renew(row: usize, fresh: usize, bytes: usize): void {
  memory.copy(row, fresh, bytes);
}

export function takeClaims(): Claims {
  if (claims.length == 0) return new Claims();
  const one = claims.pop();
  one.begun.fill(0);
  one.ended.fill(0);
  return one;
}

/** No record can name the event any more. Its row is free unless something else still names it. */
export function dropped(event: Event): void {
  event.isDropped = true;
  if (event.type == Type.Work) dropClaims(changetype<Work>(event));
  if (event.holds == 0) free(event);
}

export function hold(event: Event): void {
  event.holds++;
}

export function letGo(event: Event): void {
  if (--event.holds == 0 && event.isDropped) free(event);
}

/** Rows of works stay: each is a row of the result. */
function free(event: Event): void {
  switch (event.type) {
    case Type.Host:
      hosts.push(changetype<Host>(event));
      break;
    case Type.Op: {
      // The list of stand-ins names those, and lists of waiting operations name those that never end. A damaged file may have steps after it.
      const op = changetype<Op>(event);
      if (op.hasStopped && !op.isLost && op.openSteps.length == 0) ops.push(op);
      break;
    }
    case Type.Block: {
      const block = changetype<Block>(event);
      if (!isNaN(block.stop)) blocks.push(block);
      break;
    }
    default:
      break;
  }
}

/** A work without claims has no children to come. */
function dropClaims(work: Work): void {
  for (let one: Claims | null = work.claims; one !== null;) {
    const next = one.next;
    one.next = null;
    one.left = null;
    one.right = null;
    claims.push(one);
    one = next;
  }
  work.claims = null;
}
