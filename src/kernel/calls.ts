/**
 * The calls of the application: which collectives it called in which order (CollApi), which calls have no further events, and where threads
 * are inside NCCL when their records end.
 *
 * Ranks must make the same calls in the same order; the order within a group does not matter. NCCL reports no work for some calls (Broadcast
 * from 2.29 on, collectives of symmetric memory), and connects at first use, where it blocks if a peer never arrives: then the call is the
 * only evidence.
 */

import { Event, Host, HostKind, Key, Type } from './event';
import { EventTable } from './event_table';
import { file } from './file';
import { TextFlag } from './file_texts';
import { ApiCall, CollCall, CommCallsRow, ShapeRow } from './result_rows';
import { RowBlocks } from './row_blocks';
import { hold, letGo } from './rows';

export class Shape extends ShapeRow {
  constructor(func: u32, datatype: u32, count: f64, root: f64) {
    super();
    this.func = func;
    this.datatype = datatype;
    this.count = count;
    this.root = root;
  }
}

/** In `CollCall.flags`. */
export const enum CallFlag {
  /** In another group than the call before on its communicator. */
  Begins = 1,
  /** Made while another thread had a group open: its order is not known. */
  Overlaps = 2,
}

/** The calls on one communicator. */
export class CommCalls extends CommCallsRow {
  lastAt: f64 = NaN;
  /** Group of the newest call; -1: none is known. */
  group: i64 = Key.Null;

  constructor(comm: i32) {
    super();
    this.comm = comm;
  }
}

export class Calls {
  readonly shapes: Shape[] = [];
  readonly colls: RowBlocks<CollCall> = new RowBlocks<CollCall>();
  readonly apis: RowBlocks<ApiCall> = new RowBlocks<ApiCall>();
  /** In the order of their first call. */
  readonly comms: CommCalls[] = [];
  /** Calls of unknown communicators. */
  unknownComms: f64 = 0;
  /** Rings of threads that called NCCL, as bits. */
  callers: u64 = 0;
  copyColls: f64 = 0;
  /** Groups that have not ended, by key, and calls that have not returned. Both in order of start. */
  readonly groups: Map<i64, Host> = new Map<i64, Host>();
  private readonly open: Set<Host> = new Set<Host>();

  private readonly places: Map<i32, CommCalls> = new Map<i32, CommCalls>();
  private readonly shapePlaces: Map<u64, i32> = new Map<u64, i32>();

  constructor(private readonly events: EventTable) {}

  started(host: Host): void {
    const kind = host.kind;
    if (kind == HostKind.GroupApi || host.isApi) this.callers |= (<u64>1) << host.ring;
    if (kind == HostKind.GroupApi) {
      hold(host);
      this.groups.set(host.key, host);
    }
    if (kind == HostKind.CeColl) {
      this.copyColls += 1;
      const parent = this.events.get(host.parentKey);
      if (parent !== null && parent.type == Type.Host) this.led(changetype<Host>(parent));
    }
    if (!host.isApi) return;
    const isInGroup = this.groups.has(host.parentKey);
    const call = this.apis.add();
    call.at = host.start;
    call.group = isInGroup ? <f64>host.parentKey : Key.Null;
    call.func = host.func;
    hold(host);
    this.open.add(host);
    if (isInGroup) addCall(this.groups.get(host.parentKey), host);
    if (kind == HostKind.CollApi) this.addColl(host);
  }

  stopped(host: Host): void {
    if (host.kind == HostKind.GroupApi) {
      if (!this.groups.has(host.key)) return;
      this.groups.delete(host.key);
      dropCalls(host);
      letGo(host);
    } else this.returned(host);
  }

  /** The call led to work, which shows what it waits for. */
  workStarted(call: Host): void {
    this.led(call);
    if (this.groups.has(call.parentKey)) dropCalls(this.groups.get(call.parentKey));
    this.returned(call);
  }

  /** Where threads are inside NCCL: calls of groups whose end has begun and not returned, then other calls. */
  inside(): Host[] {
    const found = new Set<Host>();
    const groups = this.groups.values();
    for (let i = 0; i < groups.length; i++) {
      // Between ncclGroupStart and ncclGroupEnd the application runs.
      if (isNaN(groups[i].ending)) continue;
      let call = groups[i].firstCall;
      while (call !== null) {
        found.add(call);
        call = call.nextCall;
      }
    }
    const open = this.open.values();
    for (let i = 0; i < open.length; i++) if (!open[i].hasStopped) found.add(open[i]);
    return found.values();
  }

  /** Call it after the last record. If the newest call's group has not ended, more calls may belong to it. */
  finish(): void {
    for (let i = 0; i < this.comms.length; i++)
      this.comms[i].isLastOpen = this.isGroupOpen(this.comms[i].group) ? 1 : 0;
  }

  private led(host: Host): void {
    const apiRow = host.apiRow;
    if (apiRow >= 0) this.apis.at(apiRow).at = NaN;
  }

  private returned(host: Host): void {
    if (!this.open.has(host)) return;
    this.open.delete(host);
    letGo(host);
  }

  private addColl(host: Host): void {
    if (!host.comm.isKnown) {
      this.unknownComms += 1;
      return;
    }
    const calls = this.callsOf(host.comm.number);
    const begins = calls.calls == 0 || host.parentKey != calls.group;
    const overlaps = begins && this.overlapsLast(host, calls);
    const call = this.colls.add();
    call.at = host.start;
    call.key = <f64>host.key;
    call.comm = host.comm.number;
    call.shape = this.shapeOf(host);
    call.flags = <f64>((begins ? CallFlag.Begins : 0) | (overlaps ? CallFlag.Overlaps : 0));
    calls.calls += 1;
    calls.lastAt = host.start;
    calls.group = host.parentKey;
    if (host.isCaptured) calls.hasCaptured = 1;
    if (host.parentKey == Key.Null || isLost(host.func) || isLost(host.datatype))
      calls.knownFrom = calls.calls;
  }

  /** Two threads are in groups of one communicator at once. */
  private overlapsLast(host: Host, calls: CommCalls): bool {
    if (calls.calls == 0) return false;
    return host.parentStart < calls.lastAt || this.isGroupOpen(calls.group);
  }

  /** A call outside of ncclGroupStart and ncclGroupEnd has a group of its own, of depth 1. A group that is not in the table has ended. */
  private isGroupOpen(group: i64): bool {
    const event: Event | null = group == Key.Null ? null : this.events.get(group);
    if (event === null || event.type != Type.Host) return false;
    const host = changetype<Host>(event);
    return !host.hasStopped && isNaN(host.ending) && !(host.kind == HostKind.GroupApi && host.depth <= 1);
  }

  private callsOf(comm: i32): CommCalls {
    if (this.places.has(comm)) return this.places.get(comm);
    const made = new CommCalls(comm);
    this.places.set(comm, made);
    this.comms.push(made);
    return made;
  }

  private shapeOf(host: Host): i32 {
    const func = host.func;
    const datatype = host.datatype;
    const count = host.count;
    const root: f64 = file().hasText(func, TextFlag.HasRoot) ? host.root : NaN;
    const key =
      ((((<u64>func) << 16) | datatype) * 0x9e3779b97f4a7c15) ^
      (reinterpret<u64>(count) * 0xc2b2ae3d27d4eb4f) ^
      reinterpret<u64>(root);
    if (this.shapePlaces.has(key)) {
      const known = this.shapePlaces.get(key);
      const shape = this.shapes[known];
      const isSameRoot = shape.root == root || (isNaN(shape.root) && isNaN(root));
      if (shape.func == func && shape.datatype == datatype && shape.count == count && isSameRoot)
        return known;
    }
    this.shapePlaces.set(key, this.shapes.length);
    return this.shapes.push(new Shape(func, datatype, count, root)) - 1;
  }
}

function isLost(text: u32): bool {
  return file().hasText(text, TextFlag.IsLost);
}

/** At the end of the group's list. */
function addCall(group: Host, call: Host): void {
  hold(call);
  const last = group.lastCall;
  if (last === null) group.firstCall = call;
  else last.nextCall = call;
  group.lastCall = call;
}

function dropCalls(group: Host): void {
  for (let call: Host | null = group.firstCall; call !== null;) {
    const next = call.nextCall;
    call.nextCall = null;
    letGo(call);
    call = next;
  }
  group.firstCall = group.lastCall = null;
}
