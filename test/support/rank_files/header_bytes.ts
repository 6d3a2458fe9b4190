/** The header of a rank file for tests, from schemas/rank-file.md and not from the reader. */

import * as format from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';

const H = format.FILE_HEADER;

export interface FileOptions {
  readonly rank?: number;
  readonly worldSize?: number;
  readonly localRank?: number;
  readonly hostName?: string;
  readonly bootId?: string;
  readonly pid?: number;
  readonly pidNamespace?: bigint;
  readonly runId?: string;
  readonly ncclHostId?: string;
  readonly program?: string;
  readonly gpu?: string;
  readonly options?: string;
  readonly ringPath?: string;
  readonly tag?: bigint;
  readonly tickSource?: number;
  readonly tickHz?: number;
  readonly startTick?: bigint;
  readonly startRealtime?: bigint;
  readonly startMonotonic?: bigint;
  readonly eventMask?: number;
  readonly sampleEvery?: number;
  readonly mode?: 'flight' | 'stream';
  readonly placement?: 'in-file' | 'in-ring-file' | 'in-memory';
  /** Relative tick. */
  readonly copiedTick?: number;
  /** The change that `control` made. The tick is relative. */
  readonly changed?: { readonly tick: number; readonly events: number; readonly sampleEvery: number };
  readonly life?: 'creating' | 'recording' | 'closed';
  readonly readerVersion?: number;
  readonly writerVersion?: number;
  readonly lost?: Partial<Record<'communicators' | 'strings' | 'leases' | 'threads' | 'ioErrors', number>>;
}

/** Values that depend on the rest of the file. */
export interface HeaderFacts {
  readonly tag: bigint;
  readonly pid: number;
  readonly startTick: bigint;
  readonly tickHz: number;
  readonly startRealtime: bigint;
  readonly startMonotonic: bigint;
  readonly areaCount: number;
  readonly ringBytes: number;
  readonly chunksOffset: number;
  readonly chunksBegin: number;
  readonly chunksEnd: number;
}

/** Writes the header at the beginning of `bytes`. */
export function writeHeader(bytes: Uint8Array, options: FileOptions, facts: HeaderFacts): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const u32 = (offset: number, value: number): void => {
    view.setUint32(offset, value >>> 0, true);
  };
  const u64 = (offset: number, value: bigint | number): void => {
    view.setBigUint64(offset, BigInt(value), true);
  };
  const rawTick = (tick: number | undefined): bigint =>
    tick === undefined ? 0n : facts.startTick + BigInt(Math.round(tick));
  bytes.set(format.MAGIC, H.magic);
  u32(H.endianMark, format.ENDIAN_MARK);
  view.setUint16(H.readerVersion, options.readerVersion ?? format.READER_VERSION, true);
  view.setUint16(H.writerVersion, options.writerVersion ?? format.WRITER_VERSION, true);
  u32(H.headerBytes, format.HEADER_BYTES);
  u32(H.slotBytes, format.SLOT_BYTES);
  u32(H.areaCount, facts.areaCount);
  u64(H.directoryOffset, format.HEADER_BYTES);
  u64(H.chunksOffset, facts.chunksOffset);
  u64(H.tag, facts.tag);
  bytes.set(Buffer.from(options.bootId ?? '00112233445566778899aabbccddeeff', 'hex'), H.bootId);
  u64(H.pidNamespace, options.pidNamespace ?? 4_026_531_836n);
  u64(H.processStart, 123_456n);
  u32(H.pid, facts.pid);
  u32(H.tickSource, options.tickSource ?? format.TickSource.TickTsc);
  u64(H.tickHz, facts.tickHz);
  u64(H.startTick, facts.startTick);
  u64(H.startRealtime, facts.startRealtime);
  u64(H.startMonotonic, facts.startMonotonic);
  u32(H.rank, options.rank ?? 0);
  u32(H.worldSize, options.worldSize ?? 1);
  u32(H.localRank, options.localRank ?? -1);
  u32(H.mode, options.mode === 'stream' ? format.Mode.Stream : format.Mode.Flight);
  u64(H.eventMask, options.eventMask ?? 0xfff);
  u64(H.sampleEvery, options.sampleEvery ?? 1);
  u64(H.ringBytes, facts.ringBytes);
  u32(H.placement, ['in-file', 'in-ring-file', 'in-memory'].indexOf(options.placement ?? 'in-file') + 1);
  writeTexts(bytes, options);
  u32(H.headerCrc, crc32(bytes.subarray(0, format.HEADER_FIXED_BYTES)));

  u32(H.life, ['creating', 'recording', 'closed'].indexOf(options.life ?? 'recording'));
  u64(H.maskNow, options.changed?.events ?? options.eventMask ?? 0xfff);
  u64(H.sampleNow, options.changed?.sampleEvery ?? 0);
  u64(H.changedTick, rawTick(options.changed?.tick));
  u64(H.copiedTick, rawTick(options.copiedTick));
  u64(H.communicatorsLost, options.lost?.communicators ?? 0);
  u64(H.stringsLost, options.lost?.strings ?? 0);
  u64(H.leasesLost, options.lost?.leases ?? 0);
  u64(H.threadsOverflowed, options.lost?.threads ?? 0);
  u64(H.ioErrors, options.lost?.ioErrors ?? 0);
  u64(H.chunksBegin, facts.chunksBegin);
  u64(H.chunksEnd, facts.chunksEnd);
}

function writeTexts(bytes: Uint8Array, options: FileOptions): void {
  const text = (field: keyof typeof format.TEXT_BYTES, value: string): void => {
    bytes.set(Buffer.from(value, 'utf8').subarray(0, format.TEXT_BYTES[field] - 1), H[field]);
  };
  text('hostName', options.hostName ?? 'node000');
  text('runId', options.runId ?? 'run1');
  text('ncclHostid', options.ncclHostId ?? '');
  text('program', options.program ?? 'train');
  text('gpu', options.gpu ?? '');
  text('recorderVersion', '0.1.0');
  text('ringPath', options.ringPath ?? '');
  text('options', options.options ?? '');
}
