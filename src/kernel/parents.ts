/**
 * Checks whether the event that NCCL names as parent is possible, and counts the children of works. The recorder never reuses a handle, but
 * NCCL may pass an old one: from a slot it did not clear, or of a call made while its event type was off. Such a parent would stretch
 * finished work, so it is not used, and it is counted.
 */

import { Block, Claims, Event, Host, HostKind, Key, Link, Op, Type, Work } from './event';
import { isSameText } from './file';
import { takeClaims } from './rows';

/** Why a parent is missing or cannot be one. `isKnown`: the handle names something. */
export function missingParent(key: i64, isKnown: bool): Link {
  if (key == Key.Null) return Link.None;
  if (key == Key.Foreign) return Link.Foreign;
  return isKnown ? Link.Stale : Link.Lost;
}

const enum ClaimKind {
  Op,
  Block,
  /** Some of NCCL's transports say isSend 0 in both directions. */
  OtherDirection,
}

/**
 * One child per channel, direction and peer (of a search tree: a damaged file may name thousands of peers). A second one that begins after the first has stopped belongs to other work. One that begins
 * earlier is a repeat and counts once: the first stop ends both.
 */
function claimsOf(work: Work, kind: ClaimKind, peer: i32): Claims {
  const root = work.claims;
  if (root === null) {
    const first = madeClaims(kind, peer);
    work.claims = first;
    return first;
  }
  // A bit for each level. Peers have paths of their own, as an odd factor makes other numbers of other numbers; so few levels follow its end.
  let path = <u32>peer * 0x9e3779b1;
  let at = root;
  while (at.peer != peer || at.kind != kind) {
    const isRight = (path & 0x80000000) != 0;
    const next = isRight ? at.right : at.left;
    if (next === null) {
      const made = madeClaims(kind, peer);
      if (isRight) at.right = made;
      else at.left = made;
      made.next = root.next;
      root.next = made;
      return made;
    }
    path <<= 1;
    at = next;
  }
  return at;
}

function madeClaims(kind: ClaimKind, peer: i32): Claims {
  const made = takeClaims();
  made.peer = peer;
  made.kind = kind;
  return made;
}

/** Known, Again or Stale. `bit`: below 512. */
function claim(claims: Claims, bit: i32): Link {
  const mask = (<u64>1) << (bit & 63);
  const word = bit >> 6;
  if (claims.ended[word] & mask) return Link.Stale;
  if (claims.begun[word] & mask) return Link.Again;
  claims.begun[word] |= mask;
  return Link.Known;
}

/** Returns false if the child had ended already. */
function claimEnded(claims: Claims, bit: i32): bool {
  const mask = (<u64>1) << (bit & 63);
  const word = bit >> 6;
  const isFirst = (claims.ended[word] & mask) == 0;
  claims.ended[word] |= mask;
  return isFirst;
}

function opBit(op: Op): i32 {
  return op.channel * 2 + (op.isSend ? 1 : 0);
}

/** Sets the work and the link of an operation. */
export function claimOp(op: Op, parent: Event | null, key: i64, isKnown: bool): void {
  if (parent === null || parent.type != Type.Work) {
    op.link = missingParent(key, isKnown);
    return;
  }
  const work = changetype<Work>(parent);
  op.link = claim(claimsOf(work, ClaimKind.Op, op.peer), opBit(op));
  if (op.link == Link.Stale) return;
  op.work = work;
  // A second operation in the same direction may belong to the other direction. The transport is known later (endless.ts).
  op.mayBeOtherDirection =
    op.link == Link.Again &&
    !op.isSend &&
    claim(claimsOf(work, ClaimKind.OtherDirection, op.peer), opBit(op)) == Link.Known;
}

/** The same for a block, or for a phase, which may repeat. A phase may have its block as parent. */
export function claimBlock(block: Block, parent: Event | null, key: i64, isKnown: bool): void {
  if (block.isPhase && parent !== null && parent.type == Type.Block) {
    block.isWithinBlock = true;
    block.work = changetype<Block>(parent).work;
    block.link = Link.Known;
    return;
  }
  if (parent === null || parent.type != Type.Work) {
    block.link = missingParent(key, isKnown);
    return;
  }
  const work = changetype<Work>(parent);
  block.link = block.isPhase ? Link.Known : claim(claimsOf(work, ClaimKind.Block, 0), block.channel);
  if (block.link != Link.Stale) block.work = work;
}

/** Sets the call and the group of a work. Before v5 the parent of a Coll or P2p is its Group, which shows when work was posted. */
export function findCall(work: Work, parent: Event | null, key: i64, isKnown: bool): Host | null {
  const call: Host | null = parent !== null && parent.type == Type.Host ? changetype<Host>(parent) : null;
  if (call !== null && call.kind == HostKind.Group) {
    work.group = call.key;
    work.link = Link.Known;
    return null;
  }
  if (call === null || !call.isApi || isOfOther(work, call)) {
    work.link = missingParent(key, isKnown);
    return null;
  }
  work.link = Link.Known;
  work.group = call.parentKey;
  work.apiStart = call.start;
  work.isApiCaptured = call.isCaptured;
  work.apiParent = call.parentKey;
  return call;
}

function isOfOther(work: Work, call: Host): bool {
  if (work.comm.isKnown && call.comm.isKnown && work.comm !== call.comm) return true;
  return work.isColl && call.kind == HostKind.CollApi && !isSameText(work.func, call.func);
}

/** A child that NCCL starts twice counts once. */
export function countOpStart(op: Op): void {
  const work = op.work;
  if (work !== null && op.link == Link.Known) begins(work);
}

export function countOpStop(op: Op): void {
  const work = op.work;
  if (work !== null && claimEnded(claimsOf(work, ClaimKind.Op, op.peer), opBit(op))) work.openChildren--;
}

export function countBlockStart(block: Block): void {
  const work = block.work;
  if (work !== null && !block.isWithinBlock && block.link == Link.Known) begins(work);
}

/** A phase of a block ends within it: the block itself counts. */
export function countBlockStop(block: Block): void {
  const work = block.work;
  if (work === null || block.isWithinBlock) return;
  if (block.isPhase || claimEnded(claimsOf(work, ClaimKind.Block, 0), block.channel)) work.openChildren--;
}

function begins(work: Work): void {
  work.children++;
  work.openChildren++;
}
