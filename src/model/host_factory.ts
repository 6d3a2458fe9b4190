/** Makes host spans out of start records. Field layouts: schemas/rank-file.md, "Kinds". */

import { Kind } from '../rankfile/format/constants.js';
import { EventType } from '../rankfile/format/nccl.js';
import type { HostFacts, HostKind, HostSpan, NetFacts } from './host_span.js';
import { extra32, extra64, extraBigint, startKey } from './record_fields.js';
import type { Source, Texts } from './start_record.js';
import { NET_ID } from './types.js';

const HOST_KINDS: Readonly<Record<number, HostKind>> = {
  [Kind.StartGroup]: 'Group',
  [Kind.StartGroupApi]: 'GroupApi',
  [Kind.StartCollApi]: 'CollApi',
  [Kind.StartP2pApi]: 'P2pApi',
  [Kind.StartKernelLaunch]: 'KernelLaunch',
  [Kind.StartNetPlugin]: 'NetPlugin',
  [Kind.StartCeColl]: 'CeColl',
  [Kind.StartCeSync]: 'CeSync',
  [Kind.StartCeBatch]: 'CeBatch',
};

export class HostFactory {
  private apiRows = 0;

  constructor(private readonly texts: Texts) {}

  make(source: Source, recordKind: number): HostSpan {
    const { records, i } = source;
    const kind = HOST_KINDS[recordKind] ?? 'unknown';
    const isApi = kind === 'CollApi' || kind === 'P2pApi';
    const isCopy = kind === 'CeColl';
    const names = isApi ? source.detail : isCopy ? extra32(records, i, 1, 2, 0) : null;
    const parent = source.parent?.type === 'host' ? source.parent : null;
    return {
      type: 'host',
      kind,
      ring: source.ring,
      key: startKey(source.ring, records.position[i]!),
      comm: source.comm,
      parent,
      func: names === null ? '' : this.texts.text(names & 0xffff),
      datatype: names === null ? '' : this.texts.text(names >>> 16),
      count: names === null ? 0 : extra64(records, i, 1, isCopy ? 1 : 0),
      graphCaptured: saysCaptured(source, kind) ?? parent?.graphCaptured ?? false,
      userTag: isApi ? extraBigint(records, i, 2, 0) : isCopy ? extraBigint(records, i, 3, 2) : 0n,
      facts: this.facts(source, kind, recordKind),
      apiRow: isApi ? this.apiRows++ : -1,
      start: source.at,
      ending: null,
      stop: null,
    };
  }

  private facts(source: Source, kind: HostKind, recordKind: number): HostFacts | null {
    const { records, i } = source;
    switch (kind) {
      case 'CollApi':
      case 'P2pApi':
        return {
          kind: 'Api',
          root: extra32(records, i, 1, 2, 0) | 0,
          stream: extraBigint(records, i, 1, 1),
        };
      case 'GroupApi':
        return { kind, depth: source.detail >>> 1 };
      case 'KernelLaunch':
        return { kind, stream: extraBigint(records, i, 1, 0) };
      case 'NetPlugin':
        return netFacts(source);
      case 'CeColl':
        return this.copyFacts(source);
      case 'CeSync':
        return {
          kind,
          nRanks: source.detail | 0,
          isComplete: (extra32(records, i, 1, 0, 0) & 0xff) !== 0,
        };
      case 'CeBatch':
        return {
          kind,
          numOps: source.detail | 0,
          totalBytes: extraBigint(records, i, 1, 0),
          useIntraSync: (extra32(records, i, 1, 1, 0) & 0xff) !== 0,
        };
      case 'unknown':
        return { kind, type: unknownType(source, recordKind) };
      case 'Group':
      case 'GroupEnd':
        return null;
    }
  }

  private copyFacts({ records, i }: Source): HostFacts {
    const strategy = extra32(records, i, 1, 2, 1);
    return {
      kind: 'CeColl',
      seq: extra64(records, i, 1, 0),
      ceSeq: extra32(records, i, 2, 0, 1),
      root: extra32(records, i, 2, 0, 0) | 0,
      syncStrategy: this.texts.text(strategy & 0xffff),
      intraBatchSync: ((strategy >>> 16) & 0xff) !== 0,
      batchSize: extra32(records, i, 2, 1, 0),
      numBatches: extra32(records, i, 2, 1, 1),
      stream: extraBigint(records, i, 2, 2),
    };
  }
}

/** From state 24 of a GroupApi to its stop: the outermost ncclGroupEnd. */
export function groupEnd(group: HostSpan, start: HostSpan['start']): HostSpan {
  return {
    type: 'host',
    kind: 'GroupEnd',
    ring: group.ring,
    key: group.key,
    comm: group.comm,
    parent: group,
    func: group.func,
    datatype: group.datatype,
    count: group.count,
    graphCaptured: group.graphCaptured,
    userTag: 0n,
    facts: null,
    apiRow: group.apiRow,
    start,
    ending: null,
    stop: null,
  };
}

/** null: this kind has no such field. */
function saysCaptured({ records, i, detail }: Source, kind: HostKind): boolean | null {
  if (kind === 'GroupApi') return detail % 2 === 1;
  if (kind === 'CollApi' || kind === 'P2pApi') return extra32(records, i, 1, 2, 1) % 2 === 1;
  return null;
}

function unknownType({ records, i }: Source, recordKind: number): number {
  return recordKind === Kind.StartUnknown
    ? extra64(records, i, 1, 0)
    : EventType.Group * 2 ** (recordKind - 0x10);
}

function netFacts({ records, i, parent }: Source): NetFacts {
  const id = extraBigint(records, i, 1, 0);
  const isReported = (extra32(records, i, 2, 1, 1) & 0xff) !== 0;
  const isIb = isReported && id === NET_ID.InfiniBand;
  const isSocket = isReported && id === NET_ID.Socket;
  const step = parent?.type === 'step' ? parent : null;
  const isSend = isSocket ? extra32(records, i, 2, 2, 1) === 0 : sendsBy(step);
  // For a receive, NCCL does not fill these two fields of the InfiniBand plugin.
  const isFresh = isSocket || (isIb && isSend !== false);
  return {
    kind: 'NetPlugin',
    id,
    isSend,
    bytes: isFresh ? extraBigint(records, i, 1, 1) : null,
    device: isIb ? extra32(records, i, 2, 0, 0) | 0 : null,
    qp: isIb ? extra32(records, i, 2, 1, 0) | 0 : null,
    workRequest: isIb ? extraBigint(records, i, 1, 2) : null,
    opcode: isIb && isFresh ? extra32(records, i, 2, 0, 1) | 0 : null,
    fd: isSocket ? extra32(records, i, 2, 2, 0) | 0 : null,
    step,
  };
}

function sendsBy(step: NetFacts['step']): boolean | null {
  return step === null || step.op.lost ? null : step.op.isSend;
}
