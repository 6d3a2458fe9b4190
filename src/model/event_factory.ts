/**
 * Makes the model's objects from start records, one small function per kind. Field layouts: schemas/rank-file.md, "Kinds". parents.ts
 * judges their parents. A step without an op gets a stand-in marked `lost`.
 */

import { lostText } from '../base/lost_text.js';
import type { Ticks } from '../base/time.js';
import { Kind } from '../rankfile/format/constants.js';
import type { Communicator, FileFacts, RecordColumns } from '../rankfile/types.js';
import type { Event, StepName } from './event_table.js';
import { HostFactory } from './host_factory.js';
import type { KernelClock } from './kernel_clock.js';
import { makeOp } from './op_factory.js';
import type { Originators } from './pxn.js';
import { kernelClaim, parentWork } from './parents.js';
import { extra32, type HandleKey } from './record_fields.js';
import type { Source, Texts } from './start_record.js';
import type { Kernel } from './types.js';
import { WorkFactory } from './work_factory.js';

/** Looks up what a handle means. */
export interface Known {
  named(key: HandleKey): Event | StepName | undefined;
}

export class EventFactory implements Texts {
  private readonly hosts: HostFactory;
  private readonly works: WorkFactory;
  /** One object for all records, because the factories keep nothing of it. */
  private source: { -readonly [Field in keyof Source]: Source[Field] } | undefined;

  constructor(
    private readonly file: Pick<FileFacts, 'header' | 'communicators' | 'strings'>,
    private readonly kernelClock: KernelClock,
    private readonly originators: Originators,
    private readonly known: Known,
  ) {
    this.hosts = new HostFactory(this);
    this.works = new WorkFactory(this, file.header.tickHz);
  }

  /** Makes an event of any kind but a step: steps are rows (step_table.ts). */
  make(
    ring: number,
    kind: number,
    parentKey: HandleKey,
    records: RecordColumns,
    i: number,
    at: Ticks,
  ): Event {
    const source = (this.source ??= {
      ring,
      records,
      i,
      at,
      comm: null,
      detail: 0,
      parentKey,
      parent: undefined,
    });
    source.ring = ring;
    source.records = records;
    source.i = i;
    source.at = at;
    source.comm = this.commOf(records, i);
    source.detail = records.word2High[i]!;
    source.parentKey = parentKey;
    source.parent = this.known.named(parentKey);
    switch (kind) {
      case Kind.StartProxyOp:
        return makeOp(source, this.originators);
      case Kind.StartKernelCh:
        return this.kernel(source, null);
      case Kind.StartKernelPhase:
        return this.kernel(source, this.phaseName(source));
      case Kind.StartColl:
        return this.works.coll(source);
      case Kind.StartP2p:
        return this.works.p2p(source);
      case Kind.StartProxyCtrl:
        return { type: 'ctrl', ring };
      default:
        return this.hosts.make(source, kind);
    }
  }

  commOf(records: RecordColumns, i: number): Communicator | null {
    return this.file.communicators.get(records.word2Low[i]!) ?? null;
  }

  /** A phase may have its block as parent: then it belongs to the block's work and does not count there. */
  private kernel(source: Source, phase: string | null): Kernel {
    const { parent } = source;
    const channel = source.detail & 0xff;
    const block = phase !== null && parent?.type === 'kernel' ? parent : null;
    const { work, link } = block
      ? { work: block.work, link: 'known' as const }
      : parentWork(source, phase === null ? kernelClaim(channel) : null);
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
      isOfOther: false,
      stop: null,
      strayCompletions: 0,
      place: -1,
    };
  }

  private phaseName({ records, i, detail }: Source): string {
    const name = this.text(extra32(records, i, 1, 1, 0) & 0xffff);
    return name === '' ? `phase ${(detail >>> 8) & 0xff}` : name;
  }

  text(id: number): string {
    return this.file.strings[id] ?? lostText(id);
  }
}
