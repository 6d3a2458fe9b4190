/**
 * Makes the model's objects out of start records, one small function per kind. Field layouts: schemas/rank-file.md,
 * "Kinds". Parents that are not known any more become null; a step's op becomes a stand-in marked `lost`.
 */

import { ticks, type Ticks } from '../base/time.js';
import { Kind } from '../format/constants.js';
import { EventType } from '../format/nccl.js';
import type { Communicator, FileFacts, RecordColumns } from '../reader/types.js';
import type { Event } from './event_table.js';
import { hostFacts } from './host_facts.js';
import type { KernelClock } from './kernel_clock.js';
import { extra32, extra64, extraBigint, type HandleKey } from './record_fields.js';
import {
  StepPhase,
  type HostKind,
  type HostSpan,
  type Kernel,
  type Op,
  type Step,
  type Work,
} from './types.js';

type Lookup = (key: HandleKey) => Event | undefined;

/** One record, as the makers below see it. */
interface Source {
  readonly ring: number;
  readonly records: RecordColumns;
  readonly i: number;
  readonly at: Ticks;
  readonly comm: Communicator | null;
  /** Word 2's upper half: a field of its own in every start. */
  readonly detail: number;
  readonly parent: Event | undefined;
}

const HOST_KINDS: Readonly<Record<number, readonly [HostKind, number]>> = {
  [Kind.StartGroup]: ['Group', EventType.Group],
  [Kind.StartGroupApi]: ['GroupApi', EventType.GroupApi],
  [Kind.StartCollApi]: ['CollApi', EventType.CollApi],
  [Kind.StartP2pApi]: ['P2pApi', EventType.P2pApi],
  [Kind.StartKernelLaunch]: ['KernelLaunch', EventType.KernelLaunch],
  [Kind.StartNetPlugin]: ['NetPlugin', EventType.NetPlugin],
  [Kind.StartCeColl]: ['CeColl', EventType.CeColl],
  [Kind.StartCeSync]: ['CeSync', EventType.CeSync],
  [Kind.StartCeBatch]: ['CeBatch', EventType.CeBatch],
  [Kind.StartKernelPhase]: ['KernelPhase', EventType.KernelPhase],
};

export class EventFactory {
  private rows = 0;
  private readonly ourPid: number;

  constructor(
    private readonly file: Pick<FileFacts, 'header' | 'communicators' | 'strings'>,
    private readonly kernelClock: KernelClock,
    private readonly lookup: Lookup,
  ) {
    this.ourPid = file.header.process.pid;
  }

  relativeTick(tick: bigint): Ticks {
    return ticks(Number(tick - this.file.header.tickBase));
  }

  make(ring: number, kind: number, parent: HandleKey, records: RecordColumns, i: number, at: Ticks): Event {
    const source: Source = {
      ring,
      records,
      i,
      at,
      comm: this.file.communicators.get(records.word2Low[i]!) ?? null,
      detail: records.word2High[i]!,
      parent: this.lookup(parent),
    };
    switch (kind) {
      case Kind.StartProxyStep:
        return this.step(source);
      case Kind.StartProxyOp:
        return this.op(source);
      case Kind.StartKernelCh:
        return this.kernel(source);
      case Kind.StartColl:
        return this.coll(source);
      case Kind.StartP2p:
        return this.p2p(source);
      case Kind.StartProxyCtrl:
        return { type: 'ctrl', ring };
      default:
        return this.host(source, kind);
    }
  }

  private step(source: Source): Step {
    const op = source.parent?.type === 'op' ? source.parent : lostOp(source);
    return {
      type: 'step',
      op,
      number: source.detail | 0,
      start: source.at,
      phase: StepPhase.Posted,
      bytes: null,
      lastPeerWait: null,
      peerPolls: 0,
      stop: null,
      drawing: undefined,
    };
  }

  private op(source: Source): Op {
    const { records, i } = source;
    const flags = extra32(records, i, 1, 2, 0);
    const pid = extra32(records, i, 1, 1, 1) | 0;
    return {
      type: 'op',
      lost: false,
      ring: source.ring,
      work: source.parent?.type === 'work' ? source.parent : null,
      comm: source.comm,
      channel: flags & 0xff,
      peer: source.detail | 0,
      isSend: ((flags >>> 8) & 0xff) !== 0,
      nSteps: extra32(records, i, 1, 0, 1) | 0,
      chunkSize: extra32(records, i, 1, 1, 0) | 0,
      ordinal: extra32(records, i, 1, 0, 0),
      ordinalAbsolute: (flags >>> 16) % 2 === 0,
      foreignPid: pid === this.ourPid ? null : pid,
      start: source.at,
      stop: null,
      bytes: 0,
      drawing: undefined,
    };
  }

  private kernel(source: Source): Kernel {
    return {
      type: 'kernel',
      work: source.parent?.type === 'work' ? source.parent : null,
      comm: source.comm,
      channel: source.detail & 0xff,
      start: source.at,
      timerStart: this.kernelClock.startStamp(source.records, source.i),
      timerStop: null,
      stop: null,
    };
  }

  private coll(source: Source): Work {
    const { records, i } = source;
    const strings = extra32(records, i, 1, 2, 0);
    const moreStrings = extra32(records, i, 1, 2, 1);
    const shape = extra32(records, i, 2, 2, 0);
    return {
      ...this.workBase(source, 'Coll', strings, shape >>> 16),
      algo: this.text(moreStrings & 0xffff),
      proto: this.text(moreStrings >>> 16),
      count: extra64(records, i, 1, 1),
      seq: extra64(records, i, 1, 0),
      root: extra32(records, i, 2, 1, 0) | 0,
      peer: null,
      ordinal: extra32(records, i, 2, 1, 1),
      nChannels: shape & 0xff,
      userTag: extraBigint(records, i, 3, 2),
    };
  }

  private p2p(source: Source): Work {
    const { records, i } = source;
    const shape = extra32(records, i, 1, 2, 1);
    return {
      ...this.workBase(source, 'P2p', extra32(records, i, 1, 2, 0), shape >>> 16),
      algo: '',
      proto: '',
      count: extra64(records, i, 1, 1),
      seq: null,
      root: null,
      peer: extra32(records, i, 2, 1, 0) | 0,
      ordinal: extra32(records, i, 2, 1, 1),
      nChannels: shape & 0xff,
      userTag: extraBigint(records, i, 2, 2),
    };
  }

  private workBase(source: Source, kind: 'Coll' | 'P2p', strings: number, flags: number) {
    return {
      type: 'work' as const,
      kind,
      row: this.rows++,
      ring: source.ring,
      comm: source.comm,
      func: this.text(strings & 0xffff),
      datatype: this.text(strings >>> 16),
      ordinalAbsolute: flags % 2 === 0,
      api: isApiCall(source.parent) ? source.parent : null,
      start: source.at,
      enqueued: null,
      children: 0,
      openChildren: 0,
    };
  }

  private host(source: Source, kind: number): HostSpan {
    const { records, i } = source;
    const known = HOST_KINDS[kind];
    const isApi = kind === Kind.StartCollApi || kind === Kind.StartP2pApi;
    const isGroup = kind === Kind.StartGroupApi;
    const isCopy = kind === Kind.StartCeColl;
    const names = isApi ? source.detail : isCopy ? extra32(records, i, 1, 2, 0) : 0;
    return {
      type: 'host',
      kind: known?.[0] ?? 'other',
      eventType: known?.[1] ?? (kind === Kind.StartUnknown ? extra64(records, i, 1, 0) : 2 ** (kind - 0x10)),
      ring: source.ring,
      comm: source.comm,
      parent: source.parent?.type === 'host' ? source.parent : null,
      func: isApi || isCopy ? this.text(names & 0xffff) : '',
      datatype: isApi || isCopy ? this.text(names >>> 16) : '',
      count: isApi || isCopy ? extra64(records, i, 1, isCopy ? 1 : 0) : 0,
      groupDepth: isGroup ? source.detail >>> 1 : 0,
      graphCaptured: isGroup ? source.detail % 2 === 1 : isApi && extra32(records, i, 1, 2, 1) % 2 === 1,
      userTag: isApi ? extraBigint(records, i, 2, 0) : isCopy ? extraBigint(records, i, 3, 2) : 0n,
      facts: hostFacts(kind, records, i, (id) => this.text(id)),
      start: source.at,
      stop: null,
    };
  }

  private text(id: number): string {
    return this.file.strings[id] ?? `string ${id} lost`;
  }
}

/** Before v5 the parent of a Coll or P2p is its Group, which says when work was posted, not when it was called. */
function isApiCall(event: Event | undefined): event is HostSpan {
  return event?.type === 'host' && (event.kind === 'CollApi' || event.kind === 'P2pApi');
}

/** Stands in for an op whose start record was overwritten: its steps are all that is left. */
function lostOp(source: Source): Op {
  return {
    type: 'op',
    lost: true,
    ring: source.ring,
    work: null,
    comm: source.comm,
    channel: -1,
    peer: -1,
    isSend: false,
    nSteps: -1,
    chunkSize: -1,
    ordinal: 0,
    ordinalAbsolute: false,
    foreignPid: null,
    start: source.at,
    stop: null,
    bytes: 0,
    drawing: undefined,
  };
}
