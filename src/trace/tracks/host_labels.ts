/** Names and arguments of a host thread's slices. */

import { append } from '../../base/extremes.js';
import { memoized } from '../../base/memoized.js';
import type { Communicator } from '../../model/recording.js';
import {
  hasRoot,
  NET_ID,
  type CeCollFacts,
  type HostFacts,
  type HostSpan,
  type NetFacts,
} from '../../model/types.js';
import { commLabel } from './comm_groups.js';
import type { Args, ArgValue } from './sink.js';

type ArgList = [string, ArgValue][];

/** A captured call took no GPU time. Only its replays do, which are collectives of their own. */
export function hostName(span: HostSpan): string {
  const name = plainName(span);
  return span.graphCaptured ? captured(name) : name;
}

const captured = memoized((name: string) => `${name} (captured)`);
const callName = memoized((func: string) => `nccl${func}`);

function plainName({ kind, func, facts }: HostSpan): string {
  if (facts?.kind === 'unknown') return `event type 0x${facts.type.toString(16)}`;
  if (facts?.kind === 'NetPlugin') return netName(facts);
  if (kind === 'GroupEnd') return 'ncclGroupEnd';
  if (func === '') return kind;
  return kind === 'CeColl' ? func : callName(func);
}

function netName({ id, isSend }: NetFacts): string {
  if (id === NET_ID.InfiniBand) return 'IB QP';
  if (id === NET_ID.Socket) return isSend === null ? 'socket' : isSend ? 'socket send' : 'socket recv';
  return `net plugin 0x${id.toString(16)}`;
}

/** `isBare`: NCCL reported nothing after this call. */
export function hostArgs(span: HostSpan, isBare: boolean): Args {
  const args: ArgList = [];
  const comm = commOf(span);
  if (comm) args.push(['comm', labelOf(comm)]);
  if (span.func !== '') args.push(['count', span.count], ['datatype', span.datatype]);
  if (span.facts) append(args, factArgs(span.facts, span.func));
  if (span.userTag !== 0n) args.push(['userTag', span.userTag]);
  if (span.graphCaptured) args.push(['graphCaptured', true]);
  if (isBare) args.push(['completion', 'not recorded: NCCL reported nothing more of this call']);
  return args;
}

const labelOf = memoized((comm: Communicator) => commLabel(comm));

/** A group's context is its first call's, whatever communicators it spans. A transfer's may be another process's. */
function commOf({ kind, comm, facts }: HostSpan): Communicator | null {
  if (kind === 'GroupApi' || kind === 'GroupEnd') return null;
  return facts?.kind === 'NetPlugin' && facts.step ? facts.step.op.comm : comm;
}

const rootArg = (root: number, func: string): ArgList => (hasRoot(func) ? [['root', root]] : []);

function factArgs(facts: HostFacts, func: string): ArgList {
  switch (facts.kind) {
    case 'Api':
      return [...rootArg(facts.root, func), streamArg(facts.stream)];
    case 'GroupApi':
      return [['groupDepth', facts.depth]];
    case 'KernelLaunch':
      return [streamArg(facts.stream)];
    case 'NetPlugin':
      return netArgs(facts);
    case 'CeColl':
      return [
        ['seq', facts.seq],
        ['ceSeq', facts.ceSeq],
        ...rootArg(facts.root, func),
        ['syncStrategy', facts.syncStrategy],
        ...batchArgs(facts),
        streamArg(facts.stream),
        ['completion', 'enqueued, completion not recorded'],
      ];
    case 'CeSync':
      return [
        ['nRanks', facts.nRanks],
        ['isComplete', facts.isComplete],
      ];
    case 'CeBatch':
      return [
        ['numOps', facts.numOps],
        ['totalBytes', facts.totalBytes],
        ['useIntraSync', facts.useIntraSync],
      ];
    case 'unknown':
      return [];
  }
}

/** No NCCL sets these so far. */
function batchArgs({ intraBatchSync, batchSize, numBatches }: CeCollFacts): ArgList {
  const args: ArgList = [];
  if (intraBatchSync) args.push(['intraBatchSync', true]);
  if (batchSize > 0) args.push(['batchSize', batchSize]);
  if (numBatches > 0) args.push(['numBatches', numBatches]);
  return args;
}

const streamArg = (stream: bigint): [string, ArgValue] => ['stream', hexOf(stream)];
const hexOf = memoized((value: bigint) => `0x${value.toString(16)}`);

function netArgs(facts: NetFacts): ArgList {
  const args: ArgList = [];
  const add = (name: string, value: ArgValue | null): void => {
    if (value !== null) args.push([name, value]);
  };
  add('bytes', facts.bytes);
  add('direction', facts.isSend === null ? null : facts.isSend ? 'send' : 'recv');
  add('device', facts.device);
  add('qp', facts.qp);
  add('opcode', facts.opcode);
  add('workRequest', facts.workRequest);
  add('fd', facts.fd);
  if (facts.step) {
    const { op, number } = facts.step;
    args.push(['step', number]);
    if (!op.lost) args.push(['channel', op.channel], ['peer', op.peer]);
  }
  return args;
}
