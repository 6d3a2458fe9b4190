/** What the copy engine's events, a network plugin's and the phases of kernels tell beside the fields of all host spans. */

import { Kind } from '../format/constants.js';
import type { RecordColumns } from '../reader/types.js';
import { extra32, extraBigint } from './record_fields.js';
import { NET_ID, type HostFacts, type NetFacts } from './types.js';

export function hostFacts(
  kind: number,
  records: RecordColumns,
  i: number,
  text: (id: number) => string,
): HostFacts | null {
  switch (kind) {
    case Kind.StartNetPlugin:
      return netFacts(records, i);
    case Kind.StartCeColl:
      return { kind: 'CeColl', syncStrategy: text(extra32(records, i, 1, 2, 1) & 0xffff) };
    case Kind.StartCeBatch:
      return {
        kind: 'CeBatch',
        numOps: records.word2High[i]! | 0,
        totalBytes: extraBigint(records, i, 1, 0),
      };
    case Kind.StartKernelPhase:
      return {
        kind: 'KernelPhase',
        name: phaseName(records, i, text),
        channel: records.word2High[i]! & 0xff,
      };
    default:
      return null;
  }
}

function netFacts(records: RecordColumns, i: number): NetFacts {
  const id = extraBigint(records, i, 1, 0);
  const isTold = (extra32(records, i, 2, 1, 1) & 0xff) !== 0;
  const isIb = isTold && id === NET_ID.InfiniBand;
  const isSocket = isTold && id === NET_ID.Socket;
  return {
    kind: 'NetPlugin',
    id,
    bytes: isIb || isSocket ? extraBigint(records, i, 1, 1) : null,
    device: isIb ? extra32(records, i, 2, 0, 0) | 0 : null,
    qp: isIb ? extra32(records, i, 2, 1, 0) | 0 : null,
    isSend: isSocket ? extra32(records, i, 2, 2, 1) === 0 : null,
  };
}

function phaseName(records: RecordColumns, i: number, text: (id: number) => string): string {
  const name = text(extra32(records, i, 1, 1, 0) & 0xffff);
  return name === '' ? `phase ${(records.word2High[i]! >>> 8) & 0xff}` : name;
}
