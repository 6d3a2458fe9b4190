/** Names and arguments of a host thread's slices. schemas/rank-file.md, "Kinds", has the fields. */

import { Host, HostKind } from '../event';
import { Comm } from '../comm';
import { file } from '../file';
import { TextFlag } from '../file_texts';
import { Name } from '../odd';
import { copyCorrelation } from './identity';
import { Sink } from './sink';
import { Text } from './text';
import { hexOf, Texts } from './texts';
import { eventName } from './words';

/** Version 1 of the ids of NCCL's own network plugins. */
const NET_INFINIBAND: u64 = 0x10001;
const NET_SOCKET: u64 = 0x20001;

export class HostLabels {
  private readonly texts: Texts;

  constructor(private readonly sink: Sink) {
    this.texts = sink.texts;
  }

  /** A captured call took no GPU time. Only its replays do, which are collectives of their own. */
  nameOf(host: Host, isGroupEnd: bool): Text {
    const suffix = host.isCaptured ? ' (captured)' : '';
    if (!isGroupEnd && hasName(host))
      return this.texts.around(host.kind == HostKind.CeColl ? '' : 'nccl', host.func, suffix);
    const name = isGroupEnd ? 'ncclGroupEnd' : plainName(host);
    return this.texts.of(host.isCaptured ? name + suffix : name);
  }

  /** `isBare`: NCCL reported nothing after this call. */
  addArgs(host: Host, isGroupEnd: bool, isBare: bool): void {
    const sink = this.sink;
    const texts = this.texts;
    const comm = commOf(host);
    // A group's context is its first call's, whatever communicators it spans.
    const label: Text | null = host.kind == HostKind.GroupApi ? null : comm.label;
    if (label !== null) sink.text(texts.fixed('comm'), label);
    if (hasName(host)) {
      sink.number(texts.fixed('count'), host.count);
      sink.text(texts.fixed('datatype'), texts.ofFile(host.datatype));
    }
    if (!isGroupEnd) this.addFacts(host);
    if (host.userTag != 0) sink.long(texts.fixed('userTag'), host.userTag);
    if (host.isCaptured) sink.flag(texts.fixed('graphCaptured'), true);
    if (isBare)
      sink.text(
        texts.fixed('completion'),
        texts.fixed('not recorded: NCCL reported nothing more of this call'),
      );
  }

  correlationOf(host: Host, isGroupEnd: bool): f64 {
    return host.kind == HostKind.CeColl && !isGroupEnd ? copyCorrelation(host, seqOf(host)) : 0;
  }

  private addFacts(host: Host): void {
    const sink = this.sink;
    const texts = this.texts;
    switch (host.kind) {
      case HostKind.CollApi:
      case HostKind.P2pApi:
        this.addRoot(host, host.root);
        sink.text(texts.fixed('stream'), texts.hex(word(host, 1, 1)));
        break;
      case HostKind.GroupApi:
        sink.number(texts.fixed('groupDepth'), host.depth);
        break;
      case HostKind.KernelLaunch:
        sink.text(texts.fixed('stream'), texts.hex(word(host, 1, 0)));
        break;
      case HostKind.NetPlugin:
        this.addNetFacts(host);
        break;
      case HostKind.CeColl:
        this.addCopyFacts(host);
        break;
      case HostKind.CeSync:
        sink.number(texts.fixed('nRanks'), <i32>high(word(host, 0, 2)));
        sink.flag(texts.fixed('isComplete'), (word(host, 1, 0) & 0xff) != 0);
        break;
      case HostKind.CeBatch:
        sink.number(texts.fixed('numOps'), <i32>high(word(host, 0, 2)));
        sink.long(texts.fixed('totalBytes'), word(host, 1, 0));
        sink.flag(texts.fixed('useIntraSync'), (word(host, 1, 1) & 0xff) != 0);
        break;
      default:
        break;
    }
  }

  private addRoot(host: Host, root: i32): void {
    if (file().hasText(host.func, TextFlag.HasRoot)) this.sink.number(this.texts.fixed('root'), root);
  }

  private addCopyFacts(host: Host): void {
    const sink = this.sink;
    const texts = this.texts;
    const strategy = high(word(host, 1, 2));
    const batches = word(host, 2, 1);
    sink.number(texts.fixed('seq'), seqOf(host));
    sink.number(texts.fixed('ceSeq'), high(word(host, 2, 0)));
    this.addRoot(host, <i32>low(word(host, 2, 0)));
    sink.text(texts.fixed('syncStrategy'), texts.ofFile(strategy & 0xffff));
    // No NCCL sets these so far.
    if (((strategy >> 16) & 0xff) != 0) sink.flag(texts.fixed('intraBatchSync'), true);
    if (low(batches) > 0) sink.number(texts.fixed('batchSize'), low(batches));
    if (high(batches) > 0) sink.number(texts.fixed('numBatches'), high(batches));
    sink.text(texts.fixed('stream'), texts.hex(word(host, 2, 2)));
    sink.text(texts.fixed('completion'), texts.fixed('enqueued, completion not recorded'));
  }

  /** Fields that the plugin did not report, or in an unknown format, are left out. */
  private addNetFacts(host: Host): void {
    const sink = this.sink;
    const texts = this.texts;
    const isSocket = isReported(host, NET_SOCKET);
    const isInfiniBand = isReported(host, NET_INFINIBAND);
    const direction = directionOf(host);
    // For a receive, NCCL does not fill two fields of the InfiniBand plugin.
    const isFresh = isSocket || (isInfiniBand && direction != Direction.Receive);
    if (isFresh) sink.long(texts.fixed('bytes'), word(host, 1, 1));
    if (direction != Direction.Unknown)
      sink.text(texts.fixed('direction'), texts.fixed(direction == Direction.Send ? 'send' : 'recv'));
    if (isInfiniBand) {
      sink.number(texts.fixed('device'), <i32>low(word(host, 2, 0)));
      sink.number(texts.fixed('qp'), <i32>low(word(host, 2, 1)));
      if (isFresh) sink.number(texts.fixed('opcode'), <i32>high(word(host, 2, 0)));
      sink.long(texts.fixed('workRequest'), word(host, 1, 2));
    }
    if (isSocket) sink.number(texts.fixed('fd'), <i32>low(word(host, 2, 2)));
    if (!host.hasTransfer) return;
    sink.number(texts.fixed('step'), host.transferStep);
    if (host.transferIsLost) return;
    sink.number(texts.fixed('channel'), host.transferChannel);
    sink.number(texts.fixed('peer'), host.transferPeer);
  }
}

const enum Direction {
  Unknown,
  Send,
  Receive,
}

/** From the socket plugin's own field, else from its step. */
function directionOf(host: Host): Direction {
  if (isReported(host, NET_SOCKET)) return high(word(host, 2, 2)) == 0 ? Direction.Send : Direction.Receive;
  if (!host.hasTransfer || host.transferIsLost) return Direction.Unknown;
  return host.transferIsSend ? Direction.Send : Direction.Receive;
}

function isReported(host: Host, id: u64): bool {
  return word(host, 1, 0) == id && (high(word(host, 2, 1)) & 0xff) != 0;
}

function plainName(host: Host): string {
  if (host.kind == HostKind.Unknown) return 'event type 0x' + hexOf(host.eventType);
  return host.kind == HostKind.NetPlugin ? netName(host) : eventName(<Name>(<i32>host.kind));
}

function netName(host: Host): string {
  const id = word(host, 1, 0);
  if (id == NET_INFINIBAND) return 'IB QP';
  if (id != NET_SOCKET) return 'net plugin 0x' + hexOf(id);
  const direction = directionOf(host);
  if (direction == Direction.Unknown) return 'socket';
  return direction == Direction.Send ? 'socket send' : 'socket recv';
}

/** The context of a transfer may be another process's, so its operation decides. */
export function commOf(host: Host): Comm {
  const comm = host.transferComm;
  return comm === null ? host.comm : comm;
}

function hasName(host: Host): bool {
  const kind = host.kind;
  const isNamed = kind == HostKind.CollApi || kind == HostKind.P2pApi || kind == HostKind.CeColl;
  return isNamed && file().unitsOf(host.func).length > 0;
}

function seqOf(host: Host): f64 {
  const seq = word(host, 1, 0);
  return <f64>min(seq, <u64>f64.MAX_SAFE_INTEGER);
}

/** Word 0 to 2 of a slot of the start record. Missing slots read as zero. */
function word(host: Host, slot: i32, word: i32): u64 {
  return load<u64>(host.slots + <usize>(slot * 32 + word * 8));
}

function low(word: u64): u32 {
  return <u32>word;
}

function high(word: u64): u32 {
  return <u32>(word >> 32);
}
