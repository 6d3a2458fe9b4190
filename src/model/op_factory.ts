/** Makes operations from start records, or from what is left of them. Field layouts: schemas/rank-file.md, "Kinds". */

import type { Ticks } from '../base/time.js';
import { COMM_FOREIGN } from '../rankfile/format/constants.js';
import type { Communicator } from '../rankfile/types.js';
import type { Foreign, Originators } from './pxn.js';
import { claimOtherDirection, opClaim, parentWork } from './parents.js';
import { extra32, extraBigint, word1 } from './record_fields.js';
import type { Source } from './start_record.js';
import type { Op } from './types.js';

export function makeOp(source: Source, originators: Originators): Op {
  const { records, i } = source;
  const flags = extra32(records, i, 1, 2, 0);
  const channel = flags & 0xff;
  const isSend = ((flags >>> 8) & 0xff) !== 0;
  const peer = source.detail | 0;
  const foreign = foreignOf(source);
  const originator = foreign && originators.ofContext(foreign.context);
  const claimed = opClaim(channel, isSend, peer);
  const { work, link } = parentWork(source, claimed);
  return {
    type: 'op',
    lost: false,
    standIn: -1,
    ring: source.ring,
    work,
    of: foreign ? originators.ofWork(foreign.parent) : work,
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
    isEndless: false,
    stepsDone: 0,
    lastMove: source.at,
    gpuBegan: null,
    roomWanted: null,
    firstData: null,
    lastData: null,
    openSteps: [],
    place: -1,
    lane: -1,
    slotSet: -1,
    drawing: undefined,
  };
}

/** Tags decide, never the pid: the context is foreign. */
function foreignOf({ records, i }: Source): Foreign | null {
  if (records.word2Low[i] !== COMM_FOREIGN) return null;
  return {
    context: extraBigint(records, i, 2, 0),
    parent: word1(records, i),
    pid: extra32(records, i, 1, 1, 1) | 0,
  };
}

/** Stands in for an op whose start record was overwritten: only its steps are left. */
export function lostOp(ring: number, comm: Communicator | null, at: Ticks): Op {
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
    isEndless: false,
    stepsDone: 0,
    lastMove: at,
    gpuBegan: null,
    roomWanted: null,
    firstData: null,
    lastData: null,
    openSteps: [],
    place: -1,
    lane: -1,
    slotSet: -1,
    drawing: undefined,
  };
}
