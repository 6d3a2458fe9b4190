/** Makes Colls and P2ps from start records. Field layouts: schemas/rank-file.md, "Kinds". */

import { ticks, type Ticks } from '../base/time.js';
import type { HostSpan } from './host_span.js';
import { callOf, missingParent } from './parents.js';
import { extra32, extra64, extraBigint, startKey } from './record_fields.js';
import type { Source, Texts } from './start_record.js';
import type { Work } from './types.js';

/** A thread may lose its CPU between a kernel's launch and the report of the Coll, but hardly longer than this. */
const LAUNCH_TO_COLL_S = 0.01;

export class WorkFactory {
  private works = 0;

  constructor(
    private readonly texts: Texts,
    private readonly tickHz: number,
  ) {}

  coll(source: Source): Work {
    const { records, i } = source;
    const strings = extra32(records, i, 1, 2, 0);
    const moreStrings = extra32(records, i, 1, 2, 1);
    const shape = extra32(records, i, 2, 2, 0);
    const variant = extra32(records, i, 4, 0, 0);
    return this.work(source, 'Coll', strings, shape >>> 16, {
      algo: this.texts.text(moreStrings & 0xffff),
      proto: this.texts.text(moreStrings >>> 16),
      seq: extra64(records, i, 1, 0),
      root: extra32(records, i, 2, 1, 0) | 0,
      peer: null,
      ordinal: extra32(records, i, 2, 1, 1),
      nChannels: shape & 0xff,
      nWarps: (shape >>> 8) & 0xff,
      kernelVariant: this.texts.text(variant & 0xffff),
      isSymmetric: ((variant >>> 16) & 0xff) !== 0,
      userTag: extraBigint(records, i, 3, 2),
    });
  }

  p2p(source: Source): Work {
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

  /** One object literal makes all works, because objects made of parts are ten times slower to make and to read. */
  private work(source: Source, kind: 'Coll' | 'P2p', strings: number, flags: number, own: OwnFields): Work {
    const func = this.texts.text(strings & 0xffff);
    const call = callOf(kind, func, source.comm, source.parent);
    return {
      type: 'work',
      kind,
      row: this.works++,
      key: startKey(source.ring, source.records.position[source.i]!),
      ring: source.ring,
      comm: source.comm,
      func,
      datatype: this.texts.text(strings >>> 16),
      count: extra64(source.records, source.i, 1, 1),
      ordinalAbsolute: flags % 2 === 0,
      api: call?.api ?? null,
      parent: call?.link ?? missingParent(source.parentKey, source.parent),
      group: call?.group ?? null,
      start: source.at,
      earliest: this.earliest(call?.api ?? null, source.at),
      enqueued: null,
      children: 0,
      openChildren: 0,
      endlessOps: 0,
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

  private earliest(api: HostSpan | null, start: Ticks): Ticks {
    if (api) return api.graphCaptured ? start : api.start;
    return ticks(start - LAUNCH_TO_COLL_S * this.tickHz);
  }
}

/** The fields in which a Coll and a P2p differ. */
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
