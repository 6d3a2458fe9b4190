/** What a slice of a host thread is called, and what it says. */

import { NET_ID, type HostSpan, type NetFacts } from '../model/types.js';
import type { Args, ArgValue } from './sink.js';

export function hostName(span: HostSpan): string {
  if (span.kind === 'other') return `event type 0x${span.eventType.toString(16)}`;
  if (span.facts?.kind === 'NetPlugin') return netName(span.facts);
  if (span.facts?.kind === 'KernelPhase') return span.facts.name;
  if (span.func === '') return span.kind;
  return span.kind === 'CeColl' ? span.func : `nccl${span.func}`;
}

function netName({ id, isSend }: NetFacts): string {
  if (id === NET_ID.InfiniBand) return 'IB QP';
  if (isSend !== null) return isSend ? 'socket send' : 'socket recv';
  return `net plugin 0x${id.toString(16)}`;
}

export function hostArgs(span: HostSpan): Args {
  const args: [string, ArgValue][] = [];
  if (span.func !== '') args.push(['count', span.count], ['datatype', span.datatype]);
  if (span.kind === 'GroupApi') args.push(['groupDepth', span.groupDepth]);
  args.push(...factArgs(span));
  if (span.userTag !== 0n) args.push(['userTag', span.userTag]);
  if (span.graphCaptured) args.push(['graphCaptured', true]);
  return args;
}

function factArgs({ facts }: HostSpan): [string, ArgValue][] {
  switch (facts?.kind) {
    case 'NetPlugin':
      return netArgs(facts);
    case 'CeColl':
      return [['syncStrategy', facts.syncStrategy]];
    case 'CeBatch':
      return [
        ['numOps', facts.numOps],
        ['totalBytes', facts.totalBytes],
      ];
    case 'KernelPhase':
      return [['channel', facts.channel]];
    case undefined:
      return [];
  }
}

function netArgs({ bytes, device, qp }: NetFacts): [string, ArgValue][] {
  const args: [string, ArgValue][] = [];
  if (bytes !== null) args.push(['bytes', bytes]);
  if (device !== null) args.push(['device', device]);
  if (qp !== null) args.push(['qp', qp]);
  return args;
}
