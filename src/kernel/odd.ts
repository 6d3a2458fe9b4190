/** Records that change nothing: late, repeated or unknown ones. Each is counted by its cause, so none is dropped without a count. */

import { highOf, lowOf } from './bits';
import { Block, Event, Host, Type, Work } from './event';
import { OddRow, UnknownRow } from './result_rows';
import { RowBlocks } from './row_blocks';

/** Names of events, for the host. */
export const enum Name {
  Group,
  GroupApi,
  CollApi,
  P2pApi,
  KernelLaunch,
  NetPlugin,
  CeColl,
  CeSync,
  CeBatch,
  Unknown,
  Coll,
  P2p,
  ProxyOp,
  ProxyStep,
  KernelCh,
  KernelPhase,
  ProxyCtrl,
}

/** What an unknown number is. */
export const enum What {
  State,
  RecordKind,
  EventType,
  NetPlugin,
}

/** An unknown number, and how often it came. */
export class Unknown extends UnknownRow {
  /** `event`: of a state. */
  constructor(
    what: What,
    event: Name,
    readonly number: u64,
  ) {
    super();
    this.what = what;
    this.event = event;
    this.high = highOf(number);
    this.low = lowOf(number);
  }
}

/** Why a record is odd, as the trace says it. */
export const enum OddCause {
  StateAfterStop,
  StopAfterStop,
  NoSuchEvent,
  OfAnother,
  StateAgain,
  UnknownState,
  UnknownKind,
  KernelWithoutStart,
  StaleParent,
  StartAgain,
  Late,
}

/** An odd record, for the trace. */
@unmanaged
export class OddRecord {
  row: i32;
  cause: OddCause;
  event: Name;
  /** The state, or the unknown number; NaN: there is none. */
  number: f64;
  /** For a record without an event. */
  handle: u64;
  at: f64;
}

/** The trace shows at most this many, the first ones. */
const MOST_SHOWN: f64 = 1000;

export class OddCounts extends OddRow {
  /** How many odd records the trace could show, and the first of them. */
  shown: f64 = 0;
  readonly records: RowBlocks<OddRecord> = new RowBlocks<OddRecord>();
  readonly unknown: Unknown[] = [];
  private readonly places: Map<u64, i32> = new Map<u64, i32>();

  noSuchEvent(handle: u64, at: f64): void {
    this.afterStop += 1;
    this.show(OddCause.NoSuchEvent, Name.Unknown, NaN, at, handle);
  }

  lateState(event: Name, state: i32, at: f64): void {
    this.afterStop += 1;
    this.show(OddCause.StateAfterStop, event, state, at);
  }

  lateStop(event: Name, at: f64): void {
    this.afterStop += 1;
    this.show(OddCause.StopAfterStop, event, NaN, at);
  }

  ofAnother(handle: u64, at: f64): void {
    this.foreign += 1;
    this.show(OddCause.OfAnother, Name.Unknown, NaN, at, handle);
  }

  stateAgain(event: Name, state: i32, at: f64): void {
    this.repeatedStates += 1;
    this.show(OddCause.StateAgain, event, state, at);
  }

  kernelWithoutStart(channel: i32, at: f64): void {
    this.kernelsWithoutStart += 1;
    this.show(OddCause.KernelWithoutStart, Name.KernelCh, channel, at);
  }

  staleParent(event: Name, at: f64): void {
    this.staleParents += 1;
    this.show(OddCause.StaleParent, event, NaN, at);
  }

  startAgain(event: Name, at: f64): void {
    this.startsAgain += 1;
    this.show(OddCause.StartAgain, event, NaN, at);
  }

  late(event: Name, at: f64): void {
    this.afterFinalize += 1;
    this.show(OddCause.Late, event, NaN, at);
  }

  unknownState(event: Name, state: i32, at: f64): void {
    this.addUnknown(What.State, event, state);
    this.show(OddCause.UnknownState, event, state, at);
  }

  unknownKind(kind: i32, at: f64): void {
    this.addUnknown(What.RecordKind, Name.Unknown, kind);
    this.show(OddCause.UnknownKind, Name.Unknown, kind, at);
  }

  private show(cause: OddCause, event: Name, number: f64, at: f64, handle: u64 = 0): void {
    this.shown += 1;
    if (this.shown > MOST_SHOWN) return;
    const record = this.records.add();
    record.row = this.records.length;
    record.cause = cause;
    record.event = event;
    record.number = number;
    record.handle = handle;
    record.at = at;
  }

  /** Only counts it: the event itself is drawn. */
  addUnknown(what: What, event: Name, number: u64): void {
    const key = (number << 8) ^ (number >> 56) ^ (((<u64>what) << 60) | ((<u64>event) << 52));
    if (this.places.has(key)) {
      const one = this.unknown[this.places.get(key)];
      if (one.what == what && one.event == event && one.number == number) {
        one.count += 1;
        return;
      }
    }
    this.places.set(key, this.unknown.length);
    this.unknown.push(new Unknown(what, event, number));
  }
}

export function nameOf(event: Event): Name {
  switch (event.type) {
    case Type.Host:
      return <Name>(<i32>changetype<Host>(event).kind);
    case Type.Work:
      return changetype<Work>(event).isColl ? Name.Coll : Name.P2p;
    case Type.Op:
      return Name.ProxyOp;
    case Type.Block:
      return changetype<Block>(event).isPhase ? Name.KernelPhase : Name.KernelCh;
    default:
      return Name.ProxyCtrl;
  }
}
