/**
 * The words of every kind, in the notation of native/format/rank_file.h: words of a slot separated by `|`, slots by `;`, bit fields
 * `name:bits` from bit 0 upwards, a bare name is 64 bits, `0` is zeros. Names of several slots are not fields and are left out. This one
 * table gives the least number of slots, the output of `inspect` and the model's fields. The contract test compares it with the C++
 * header's comments and with the tables of schemas/rank-file.md.
 */

import { Kind, type KindName } from './constants.js';

const COLL_API =
  'tick | parent | comm:32 func:16 datatype:16 ; count | stream | root:32 graphCaptured:1 0:31 ; userTag | 0 | 0';

/** The first layout is the usual one. A further layout, with more slots, is for records of at least that size. */
const NOTATION: Partial<Record<KindName, readonly string[]>> = {
  ClockSample: ['tick | realtime | monotonic ; width | boottime | 0'],
  Communicator: ['tick | commId | rank:32 nRanks:32 ; nNodes:32 abi:8 0:24 | nameLength | 0'],
  CommunicatorEnd: ['tick | 0 | 0'],
  String: ['tick | length | bytes'],
  Lease: ['tick | position | area:32 tid:32'],
  LeaseEnd: ['tick | position | 0'],

  StartGroup: ['tick | parent | comm:32 0:32'],
  StartColl: [
    'tick | parent | comm:32 rank:32 ; seqNumber | count | func:16 datatype:16 algo:16 proto:16 ; ' +
      'parentGroup | root:32 ordinal:32 | nChannels:8 nWarps:8 flags:16 0:32 ; sendBuff | recvBuff | userTag ; ' +
      'kernelVariant:16 isSymColl:8 0:40 | 0 | 0',
  ],
  StartP2p: [
    'tick | parent | comm:32 rank:32 ; buff | count | func:16 datatype:16 nChannels:8 0:8 flags:16 ; ' +
      'parentGroup | peer:32 ordinal:32 | userTag',
  ],
  StartProxyOp: [
    'tick | parent | comm:32 peer:32 ; ' +
      'ordinal:32 nSteps:32 | chunkSize:32 pid:32 | channel:8 isSend:8 flags:16 rank:32 ; context | 0 | 0',
  ],
  StartProxyStep: ['tick | parent | comm:32 step:32'],
  StartProxyCtrl: ['tick | parent | comm:32 0:32'],
  StartKernelCh: ['tick | parent | comm:32 channel:8 0:24 ; pTimer | 0 | 0'],
  StartNetPlugin: [
    'tick | parent | comm:32 0:32 ; id | length | wrId ; ' +
      'device:32 opcode:32 | qpNum:32 type:8 0:24 | fd:32 op:32',
  ],
  StartGroupApi: ['tick | parent | comm:32 graphCaptured:1 groupDepth:31'],
  StartCollApi: [COLL_API],
  StartP2pApi: [COLL_API],
  StartKernelLaunch: ['tick | parent | comm:32 0:32 ; stream | 0 | 0'],
  StartCeColl: [
    'tick | parent | comm:32 rank:32 ; ' +
      'seqNumber | count | func:16 datatype:16 syncStrategy:16 intraBatchSync:8 0:8 ; ' +
      'root:32 ceSeqNum:32 | batchSize:32 numBatches:32 | stream ; sendBuff | recvBuff | userTag',
  ],
  StartCeSync: ['tick | parent | comm:32 nRanks:32 ; isComplete:8 0:56 | 0 | 0'],
  StartCeBatch: ['tick | parent | comm:32 numOps:32 ; totalBytes | useIntraSync:8 0:56 | 0'],
  StartKernelPhase: ['tick | parent | comm:32 channel:8 phase:8 0:16 ; pTimer | name:16 0:48 | 0'],
  StartUnknown: ['tick | parent | comm:32 rank:32 ; type | 0 | 0'],

  State: ['tick | handle | state:16 value:48', 'tick | handle | state:32 0:32 ; value | 0 | 0'],
  Stop: ['tick | handle | 0'],
  Fold: ['tick | handle | state:32 0:32 ; lastTick | repeats | 0'],

  ControlChange: ['tick | done | events:32 sampleEvery:32'],
};

/** Least number of slots of a record, if its layout does not say it: names, optional slots. */
const MIN_SLOTS: Partial<Record<KindName, number>> = {
  Communicator: 7,
  String: 4,
  Lease: 2,
  StartColl: 4,
  StartProxyOp: 2,
  StartCollApi: 2,
  StartP2pApi: 2,
  State: 1,
};

/** Meaning of a field's bits; the default is an unsigned number. */
export type FieldType = 'number' | 'signed' | 'comm' | 'handle' | 'hex' | 'string' | 'state' | 'tick';
const TYPES: Readonly<Record<string, FieldType>> = {
  tick: 'tick',
  lastTick: 'tick',
  received: 'tick',
  done: 'tick',
  parent: 'handle',
  parentGroup: 'handle',
  handle: 'handle',
  context: 'handle',
  comm: 'comm',
  rank: 'signed',
  nRanks: 'signed',
  nNodes: 'signed',
  peer: 'signed',
  root: 'signed',
  step: 'signed',
  nSteps: 'signed',
  chunkSize: 'signed',
  pid: 'signed',
  numOps: 'signed',
  device: 'signed',
  opcode: 'signed',
  qpNum: 'signed',
  fd: 'signed',
  op: 'signed',
  func: 'string',
  datatype: 'string',
  algo: 'string',
  proto: 'string',
  kernelVariant: 'string',
  syncStrategy: 'string',
  name: 'string',
  state: 'state',
  commId: 'hex',
  type: 'hex',
  id: 'hex',
  wrId: 'hex',
  buff: 'hex',
  sendBuff: 'hex',
  recvBuff: 'hex',
  stream: 'hex',
  userTag: 'hex',
  bytes: 'hex',
  peerBootId0: 'hex',
  peerBootId1: 'hex',
  flags: 'hex',
};

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Slot of the record and word of the slot, both from 0. */
  readonly slot: number;
  readonly word: number;
  /** Lowest bit within the word, 0 to 63. */
  readonly shift: number;
  readonly bits: number;
}

/** Fields of one notation, without zeros. */
function parseNotation(notation: string): Field[] {
  return notation.split(';').flatMap((slotText, slot) =>
    slotText.split('|').flatMap((wordText, word) => {
      let shift = 0;
      const fields: Field[] = [];
      for (const part of wordText.trim().split(' ')) {
        const [name = '', bitsText = '64'] = part.split(':');
        const bits = Number(bitsText);
        if (name !== '0') fields.push({ name, type: TYPES[name] ?? 'number', slot, word, shift, bits });
        shift += bits;
      }
      return fields;
    }),
  );
}

export interface Layout {
  readonly notation: string;
  readonly slots: number;
  readonly fields: readonly Field[];
}

export interface KindLayout {
  readonly kind: number;
  readonly name: KindName;
  readonly minSlots: number;
  readonly layouts: readonly Layout[];
}

function toLayout(notation: string): Layout {
  return { notation, slots: notation.split(';').length, fields: parseNotation(notation) };
}

/** By kind. Kinds without a layout (reserved, unknown) are missing. */
export const LAYOUTS: ReadonlyMap<number, KindLayout> = new Map(
  (Object.entries(Kind) as [KindName, number][]).flatMap(([name, kind]) => {
    const layouts = NOTATION[name]?.map(toLayout);
    if (layouts === undefined) return [];
    const minSlots = MIN_SLOTS[name] ?? layouts[0]?.slots ?? 1;
    return [[kind, { kind, name, minSlots, layouts }] as const];
  }),
);

/** Least number of slots of each kind; 1 for kinds without a layout. */
export const MIN_PARTS = Uint8Array.from({ length: 256 }, (_, kind) => LAYOUTS.get(kind)?.minSlots ?? 1);

const kindNames = new Map<number, KindName>(
  (Object.entries(Kind) as [KindName, number][]).map(([name, kind]) => [kind, name]),
);

/** "ProxyStep start", "State", "kind 0x99". */
export function kindName(kind: number): string {
  const name = kindNames.get(kind);
  if (name === undefined) return `kind 0x${kind.toString(16).padStart(2, '0')}`;
  return name.startsWith('Start') ? `${name.slice(5)} start` : name;
}
