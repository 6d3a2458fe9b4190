/** Makes rows of start records. Field layouts: schemas/rank-file.md, "Kinds". parents.ts judges their parents. */

import { Block, Event, Host, HostKind, Op, Type, Work } from './event';
import { file } from './file';
import { COMM_FOREIGN, Kind } from './numbers';
import { claimBlock, claimOp, findCall } from './parents';
import { Records } from './record';
import { takeBlock, takeHost, takeOp } from './rows';

/** s: a thread may lose its CPU between a kernel's launch and the report of the Coll, but hardly longer than this. */
const LAUNCH_TO_COLL: f64 = 0.01;

export function makeOp(
  records: Records,
  row: i32,
  parent: Event | null,
  key: i64,
  isKnown: bool,
  at: f64,
): Op {
  const op = takeOp(file().commOf(records.comm(row)));
  const flags = records.more32(row, 1, 2, 0);
  op.channel = <i32>(flags & 0xff);
  op.isSend = ((flags >> 8) & 0xff) != 0;
  op.isOrdinalAbsolute = ((flags >> 16) & 1) == 0;
  op.peer = <i32>records.detail(row);
  op.nSteps = <i32>records.more32(row, 1, 0, 1);
  op.chunkSize = <i32>records.more32(row, 1, 1, 0);
  op.ordinal = records.more32(row, 1, 0, 0);
  op.start = op.lastMove = at;
  // Tags decide, never the pid: the context is foreign.
  if (records.comm(row) == COMM_FOREIGN) {
    op.isForeign = true;
    op.context = records.more(row, 2, 0);
    op.foreignParent = records.word1(row);
    op.pid = <i32>records.more32(row, 1, 1, 1);
  }
  claimOp(op, parent, key, isKnown);
  return op;
}

export function makeBlock(
  records: Records,
  row: i32,
  isPhase: bool,
  parent: Event | null,
  key: i64,
  isKnown: bool,
  at: f64,
): Block {
  const block = takeBlock(file().commOf(records.comm(row)));
  block.isPhase = isPhase;
  block.channel = <i32>(records.detail(row) & 0xff);
  block.start = at;
  block.timerStart = stampOf(records.more(row, 1, 0));
  claimBlock(block, parent, key, isKnown);
  return block;
}

/** The value of a State record, in either form; NaN: NCCL gave none. */
export function stopStamp(records: Records, row: i32): f64 {
  return stampOf(records.isLong(row) ? records.more(row, 1, 0) : records.word2(row) >> 16);
}

/** ns of the GPU's timer, relative to the recording's start. */
function stampOf(raw: u64): f64 {
  if (raw == 0 || raw == NO_STAMP) return NaN;
  const base = file().startRealtime;
  return raw >= base ? <f64>(raw - base) : -(<f64>(base - raw));
}
/** 48 ones: no value. */
const NO_STAMP: u64 = 0xffff_ffff_ffff;

export function makeHost(records: Records, row: i32, recordKind: i32, parent: Event | null, at: f64): Host {
  const host = takeHost(file().commOf(records.comm(row)));
  const kind = hostKindOf(recordKind);
  const detail = records.detail(row);
  host.kind = kind;
  host.start = at;
  if (parent !== null && parent.type == Type.Host) {
    const call = changetype<Host>(parent);
    host.parentKey = call.key;
    host.parentStart = call.start;
    host.isCaptured = call.isCaptured;
  }
  if (kind == HostKind.GroupApi) {
    host.isCaptured = (detail & 1) != 0;
    host.depth = detail >> 1;
  } else if (kind == HostKind.CeColl) {
    const names = records.more32(row, 1, 2, 0);
    host.func = names & 0xffff;
    host.datatype = names >> 16;
    host.count = records.moreNumber(row, 1, 1);
    host.userTag = records.more(row, 3, 2);
  } else if (kind == HostKind.CollApi || kind == HostKind.P2pApi) {
    host.isCaptured = (records.more32(row, 1, 2, 1) & 1) != 0;
    host.userTag = records.more(row, 2, 0);
    host.func = detail & 0xffff;
    host.datatype = detail >> 16;
    host.count = records.moreNumber(row, 1, 0);
    host.root = <i32>records.more32(row, 1, 2, 0);
  }
  return host;
}

function hostKindOf(kind: i32): HostKind {
  switch (kind) {
    case Kind.StartGroup:
      return HostKind.Group;
    case Kind.StartGroupApi:
      return HostKind.GroupApi;
    case Kind.StartCollApi:
      return HostKind.CollApi;
    case Kind.StartP2pApi:
      return HostKind.P2pApi;
    case Kind.StartKernelLaunch:
      return HostKind.KernelLaunch;
    case Kind.StartNetPlugin:
      return HostKind.NetPlugin;
    case Kind.StartCeColl:
      return HostKind.CeColl;
    case Kind.StartCeSync:
      return HostKind.CeSync;
    case Kind.StartCeBatch:
      return HostKind.CeBatch;
    default:
      return HostKind.Unknown;
  }
}

/** Fills the row. Returns its call; null: none is known. */
export function makeWork(
  work: Work,
  records: Records,
  row: i32,
  isColl: bool,
  parent: Event | null,
  key: i64,
  isKnown: bool,
  at: f64,
): Host | null {
  const names = records.more32(row, 1, 2, 0);
  const others = records.more32(row, 1, 2, 1);
  const shape = isColl ? records.more32(row, 2, 2, 0) : others;
  work.isColl = isColl;
  work.func = names & 0xffff;
  work.datatype = names >> 16;
  work.count = records.moreNumber(row, 1, 1);
  work.ordinal = records.more32(row, 2, 1, 1);
  work.nChannels = <i32>(shape & 0xff);
  work.isOrdinalAbsolute = ((shape >> 16) & 1) == 0;
  if (isColl) {
    work.algo = others & 0xffff;
    work.proto = others >> 16;
    work.seq = records.moreNumber(row, 1, 0);
    work.root = <i32>records.more32(row, 2, 1, 0);
  } else work.peer = <i32>records.more32(row, 2, 1, 0);
  work.start = at;
  const call = findCall(work, parent, key, isKnown);
  if (call === null) work.earliest = at - LAUNCH_TO_COLL * file().tickHz;
  else work.earliest = call.isCaptured ? at : call.start;
  return call;
}
