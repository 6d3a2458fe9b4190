/**
 * Makes the model's objects out of start records, one small function per kind. Field layouts: schemas/rank-file.md,
 * "Kinds". What became of their parents is judged here (parents.ts); a step without an op gets a stand-in marked `lost`.
 */

import { lostText } from '../base/lost_text.js';
import { ticks, type Ticks } from '../base/time.js';
import { COMM_FOREIGN, Kind } from '../format/constants.js';
import type { Communicator, FileFacts, RecordColumns } from '../reader/types.js';
import type { Event } from './event_table.js';
import { HostFactory } from './host_factory.js';
import type { KernelClock } from './kernel_clock.js';
import type { Foreign, Originators } from './origin.js';
import { callOf, claim, claimOtherDirection, kernelClaim, missingParent, opClaim } from './parents.js';
import { extra32, extra64, extraBigint, startKey, word1, type HandleKey } from './record_fields.js';
import type { Source } from './source.js';
import {
  StepPhase,
  type HostSpan,
  type Kernel,
  type Op,
  type ParentLink,
  type Step,
  type Work,
} from './types.js';

type Lookup = (key: HandleKey) => Event | undefined;

/** A thread may lose its core between launching a kernel and telling of the Coll; longer than this it hardly does. */
const LAUNCH_TO_COLL_S = 0.01;

export class EventFactory {
  private works = 0;
  private readonly hosts: HostFactory;

  constructor(
    private readonly file: Pick<FileFacts, 'header' | 'communicators' | 'strings'>,
    private readonly kernelClock: KernelClock,
    private readonly originators: Originators,
    private readonly lookup: Lookup,
  ) {
    this.hosts = new HostFactory((id) => this.text(id));
  }

  private earliest(api: HostSpan | null, start: Ticks): Ticks {
    if (api) return api.graphCaptured ? start : api.start;
    return ticks(start - LAUNCH_TO_COLL_S * this.file.header.tickHz);
  }

  relativeTick(tick: bigint): Ticks {
    return ticks(Number(tick - this.file.header.tickBase));
  }

  /** Of all kinds but steps. */
  make(
    ring: number,
    kind: number,
    parentKey: HandleKey,
    records: RecordColumns,
    i: number,
    at: Ticks,
  ): Exclude<Event, Step> {
    const source: Source = {
      ring,
      records,
      i,
      at,
      comm: this.commOf(records, i),
      detail: records.word2High[i]!,
      parentKey,
      parent: this.lookup(parentKey),
    };
    switch (kind) {
      case Kind.StartProxyOp:
        return this.op(source);
      case Kind.StartKernelCh:
        return this.kernel(source, null);
      case Kind.StartKernelPhase:
        return this.kernel(source, this.phaseName(source));
      case Kind.StartColl:
        return this.coll(source);
      case Kind.StartP2p:
        return this.p2p(source);
      case Kind.StartProxyCtrl:
        return { type: 'ctrl', ring };
      default:
        return this.hosts.make(source, kind);
    }
  }

  /** Steps are the bulk of all starts, so they have a way of their own. */
  step(ring: number, parent: Event | undefined, records: RecordColumns, i: number, at: Ticks): Step {
    return {
      type: 'step',
      op: parent?.type === 'op' ? parent : lostOp(ring, this.commOf(records, i), at),
      number: records.word2High[i]! | 0,
      start: at,
      phase: StepPhase.Posted,
      phaseSince: at,
      bytes: null,
      lastPeerWait: null,
      peerPolls: 0,
      startRepeats: 0,
      lastStartRepeat: null,
      stop: null,
      drawing: undefined,
    };
  }

  private commOf(records: RecordColumns, i: number): Communicator | null {
    return this.file.communicators.get(records.word2Low[i]!) ?? null;
  }

  private op(source: Source): Op {
    const { records, i } = source;
    const flags = extra32(records, i, 1, 2, 0);
    const channel = flags & 0xff;
    const isSend = ((flags >>> 8) & 0xff) !== 0;
    const peer = source.detail | 0;
    const foreign = foreignOf(source);
    const originator = foreign && this.originators.ofContext(foreign.context);
    const claimed = opClaim(channel, isSend, peer);
    const { work, link } = ownWork(source, claimed);
    return {
      type: 'op',
      lost: false,
      standIn: -1,
      ring: source.ring,
      work,
      of: foreign ? this.originators.ofWork(foreign.parent) : work,
      parent: link,
      mayBeOtherDirection: link === 'again' && work !== null && !isSend && claimOtherDirection(work, claimed),
      comm: originator ? originator.comm : source.comm,
      channel,
      peer,
      isSend,
      nSteps: extra32(records, i, 1, 0, 1) | 0,
      chunkSize: extra32(records, i, 1, 1, 0) | 0,
      ordinal: extra32(records, i, 1, 0, 0),
      ordinalAbsolute: (flags >>> 16) % 2 === 0,
      foreign,
      originator,
      start: source.at,
      stop: null,
      bytes: 0,
      isAlive: false,
      isUntold: false,
      stepsDone: 0,
      lastMove: source.at,
      openSteps: [],
      drawing: undefined,
    };
  }

  /** The parent of a phase may be its block: then it is of the block's work, and counts for nothing there. */
  private kernel(source: Source, phase: string | null): Kernel {
    const { parent } = source;
    const channel = source.detail & 0xff;
    const block = phase !== null && parent?.type === 'kernel' ? parent : null;
    const { work, link }: Parent = block
      ? { work: block.work, link: 'known' }
      : ownWork(source, phase === null ? kernelClaim(channel) : null);
    return {
      type: 'kernel',
      phase,
      isWithinBlock: block !== null,
      ring: source.ring,
      work,
      parent: link,
      comm: source.comm,
      channel,
      start: source.at,
      timerStart: this.kernelClock.startStamp(source.records, source.i),
      timerStop: null,
      stop: null,
      strayCompletions: 0,
    };
  }

  private phaseName({ records, i, detail }: Source): string {
    const name = this.text(extra32(records, i, 1, 1, 0) & 0xffff);
    return name === '' ? `phase ${(detail >>> 8) & 0xff}` : name;
  }

  private coll(source: Source): Work {
    const { records, i } = source;
    const strings = extra32(records, i, 1, 2, 0);
    const moreStrings = extra32(records, i, 1, 2, 1);
    const shape = extra32(records, i, 2, 2, 0);
    const variant = extra32(records, i, 4, 0, 0);
    return this.work(source, 'Coll', strings, shape >>> 16, {
      algo: this.text(moreStrings & 0xffff),
      proto: this.text(moreStrings >>> 16),
      seq: extra64(records, i, 1, 0),
      root: extra32(records, i, 2, 1, 0) | 0,
      peer: null,
      ordinal: extra32(records, i, 2, 1, 1),
      nChannels: shape & 0xff,
      nWarps: (shape >>> 8) & 0xff,
      kernelVariant: this.text(variant & 0xffff),
      isSymmetric: ((variant >>> 16) & 0xff) !== 0,
      userTag: extraBigint(records, i, 3, 2),
    });
  }

  private p2p(source: Source): Work {
    const { records, i } = source;
    const shape = extra32(records, i, 1, 2, 1);
    return this.work(source, 'P2p', extra32(records, i, 1, 2, 0), shape >>> 16, {
      algo: '',
      proto: '',
      seq: null,
      root: null,
      peer: extra32(records, i, 2, 1, 0) | 0,
      ordinal: extra32(records, i, 2, 1, 1),
      nChannels: shape & 0xff,
      nWarps: null,
      kernelVariant: '',
      isSymmetric: false,
      userTag: extraBigint(records, i, 2, 2),
    });
  }

  /** One literal for all works: objects made of parts are ten times slower to make, and to read. */
  private work(source: Source, kind: 'Coll' | 'P2p', strings: number, flags: number, own: OwnFields): Work {
    const func = this.text(strings & 0xffff);
    const call = callOf(kind, func, source.comm, source.parent);
    return {
      type: 'work',
      kind,
      row: this.works++,
      key: startKey(source.ring, source.records.position[source.i]!),
      ring: source.ring,
      comm: source.comm,
      func,
      datatype: this.text(strings >>> 16),
      count: extra64(source.records, source.i, 1, 1),
      ordinalAbsolute: flags % 2 === 0,
      api: call?.api ?? null,
      parent: call?.link ?? missingParent(source.parentKey, source.parent),
      start: source.at,
      earliest: this.earliest(call?.api ?? null, source.at),
      enqueued: null,
      children: 0,
      openChildren: 0,
      untold: 0,
      claims: new Map<number, boolean>(),
      algo: own.algo,
      proto: own.proto,
      seq: own.seq,
      root: own.root,
      peer: own.peer,
      ordinal: own.ordinal,
      nChannels: own.nChannels,
      nWarps: own.nWarps,
      kernelVariant: own.kernelVariant,
      isSymmetric: own.isSymmetric,
      userTag: own.userTag,
    };
  }

  private text(id: number): string {
    return this.file.strings[id] ?? lostText(id);
  }
}

/** What a Coll and a P2p read from different places. */
type OwnFields = Pick<
  Work,
  | 'algo'
  | 'proto'
  | 'seq'
  | 'root'
  | 'peer'
  | 'ordinal'
  | 'nChannels'
  | 'nWarps'
  | 'kernelVariant'
  | 'isSymmetric'
  | 'userTag'
>;

interface Parent {
  readonly work: Work | null;
  readonly link: ParentLink;
}

/** `claimed`: what the child is to the work; null: it may come again. */
function ownWork({ parent, parentKey }: Source, claimed: number | null): Parent {
  if (parent?.type !== 'work') return { work: null, link: missingParent(parentKey, parent) };
  const kind = claimed === null ? 'first' : claim(parent, claimed);
  if (kind === 'stale') return { work: null, link: 'stale' };
  return { work: parent, link: kind === 'again' ? 'again' : 'known' };
}

/** Tags decide, never the pid: the context is not one of ours. */
function foreignOf({ records, i }: Source): Foreign | null {
  if (records.word2Low[i] !== COMM_FOREIGN) return null;
  return {
    context: extraBigint(records, i, 2, 0),
    parent: word1(records, i),
    pid: extra32(records, i, 1, 1, 1) | 0,
  };
}

/** Stands in for an op whose start record was overwritten: its steps are all that is left. */
function lostOp(ring: number, comm: Communicator | null, at: Ticks): Op {
  return {
    type: 'op',
    lost: true,
    standIn: -1,
    ring,
    work: null,
    of: null,
    parent: 'lost',
    mayBeOtherDirection: false,
    comm,
    channel: -1,
    peer: -1,
    isSend: false,
    nSteps: -1,
    chunkSize: -1,
    ordinal: 0,
    ordinalAbsolute: false,
    foreign: null,
    originator: null,
    start: at,
    stop: null,
    bytes: 0,
    isAlive: false,
    isUntold: false,
    stepsDone: 0,
    lastMove: at,
    openSteps: [],
    drawing: undefined,
  };
}
