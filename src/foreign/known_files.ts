/**
 * Files of other tools, known by their first bytes, keys or name: what each is, and what to do with it. People name them where rank files
 * or a trace are expected. A new format is one row; the first row that fits counts.
 */

import { fileStart } from '../output/file_start.js';
import { constants, gunzipSync } from 'node:zlib';

export interface KnownFile {
  /** "a trace of PyTorch's profiler (Kineto) of rank 3" */
  readonly what: string;
  readonly advice: string;
}

interface Row {
  readonly begins?: string;
  /** In the first bytes, which are unpacked if they are a gzip file's. */
  readonly shows?: RegExp;
  /** For files whose first bytes do not tell. */
  readonly named?: RegExp;
  /** `$1` is what `shows` found. */
  readonly what: string;
  readonly advice: string;
}

/** So much of a file is looked at. */
export const LOOKED_AT = 64 * 1024;
/** So much of a packed file is unpacked, until LOOKED_AT bytes are there. It may unpack to a thousand times as much. */
const PACKED = [2 * 1024, 8 * 1024, 32 * 1024];

const RANK_FILES = 'name the files that the recorder wrote (rank*.bin)';
const IN_PERFETTO = 'look at it in https://ui.perfetto.dev';
const BESIDE = 'draw it beside its rank: nccl-trace merge RUN';
const DUMPS = 'name the folder of the dumps with --flight-recorder';
const UNPACK = 'decompress it and name the decompressed file';
const RECORD = 'for steps and a verdict, record with our plugin: nccl-trace plugin-path';

const ROWS: readonly Row[] = [
  // Before dumps of the Flight Recorder: it lists its process groups as they do.
  {
    shows: /^\s*\{[^]*"distributedInfo"\s*:\s*\{(?:[^{}]|\{[^{}]*\})*?"rank"\s*:\s*(\d+)/,
    what: "a trace of PyTorch's profiler (Kineto) of rank $1",
    advice: `${BESIDE} --with FILE`,
  },
  {
    shows:
      /^\s*\{[^]*(?:"(?:deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:|"cat"\s*:\s*"(?:cpu_op|cuda_runtime|user_annotation|python_function|Operator)")/,
    what: "a trace of PyTorch's profiler (Kineto)",
    advice: `${BESIDE} --with RANK=FILE`,
  },
  {
    shows: /^\x80[^]+?(?:pg_config|nccl_version|collective_seq_id)/,
    what: "a dump of PyTorch's Flight Recorder",
    advice: DUMPS,
  },
  {
    shows: /^\s*\{[^]*"(?:pg_config|pg_status|collective_seq_id)"\s*:/,
    what: "a dump of PyTorch's Flight Recorder (JSON)",
    advice: DUMPS,
  },
  {
    shows: /"inspector_output_format_version"\s*:\s*"(v[\d.]+)"/,
    what: 'output of NCCL Inspector ($1)',
    advice: `its numbers are per collective; ${RECORD}`,
  },
  {
    shows: /"decomposition"\s*:\s*\{|"dropped_collectives"\s*:/,
    what: "output of RCCL's accl profiler",
    advice: 'read it with accl_report.py',
  },
  {
    shows: /"comm_hash"\s*:\s*"0x[^]*"ph"\s*:\s*"X"|"name"\s*:\s*"collective_(?:counts|latency)"/,
    what: "output of Google's CoMMA",
    advice: `its format is in CoMMA's docs/json-format.md; ${RECORD}`,
  },
  {
    shows:
      /"cat"\s*:\s*"(?:GROUP|COLL|P2P|PROXY|KERNEL_LAUNCH|GROUP_API|COLL_API|P2P_API)"\s*,\s*"ph"\s*:\s*"[be]"/,
    what: "output of NCCL's example profiler plugin",
    advice: `${IN_PERFETTO}; its clocks differ from rank to rank`,
  },
  {
    shows: /"nccl_version"[^]*"communicators(?:_count)?"\s*:/,
    what: "an answer of NCCL's RAS",
    advice: 'name it with --ras, beside the rank files: nccl-trace inspect RUN --ras FILE',
  },
  {
    begins: 'NCCL version ',
    shows: /Job summary/,
    what: "an answer of NCCL's RAS as text",
    advice: 'take it as JSON for --ras: ncclras -f json -v',
  },
  {
    shows: /^\s*\{[^]*?"traceEvents"\s*:|^\s*\[\s*\{[^]*?"ph"\s*:/,
    what: 'a trace in the JSON format of Chrome',
    advice: IN_PERFETTO,
  },
  {
    shows: /^SQLite format 3\0[^]*(?:CUPTI_ACTIVITY|TARGET_INFO_|NVTX_EVENTS|ANALYSIS_DETAILS)/,
    what: 'an SQLite export of Nsight Systems',
    advice: `${BESIDE} --with FILE`,
  },
  { shows: /^SQLite format 3\0/, what: 'an SQLite database', advice: RANK_FILES },
  {
    named: /\.(?:nsys-rep|qdrep)$/,
    what: 'a report of Nsight Systems',
    advice: 'nsys export --type sqlite FILE makes one that merge --with takes',
  },
  {
    named: /\.(?:pftrace|perfetto-trace)(?:\.gz|\.zst)?$/,
    what: 'a Perfetto trace',
    advice: 'show it with nccl-trace open',
  },
  { begins: '\x28\xb5\x2f\xfd', what: 'a zstd file', advice: UNPACK },
  { begins: '\x1f\x8b', what: 'a gzip file', advice: UNPACK },
  { begins: 'PK\x03\x04', what: 'a zip file', advice: UNPACK },
  {
    begins: '\x80',
    what: "a Python pickle, perhaps a dump of PyTorch's Flight Recorder",
    advice: DUMPS,
  },
  {
    shows: /^\s*[[{]/,
    named: /(?:rank|trace|dump)_?\d{1,7}(?:\.json)?$/,
    what: "JSON, perhaps a dump of PyTorch's Flight Recorder",
    advice: DUMPS,
  },
  { shows: /^\s*[[{]/, what: 'JSON', advice: RANK_FILES },
];

/** null: it is none that is known. `start`: the first LOOKED_AT bytes, or fewer. */
export function knownFile(path: string, start: Uint8Array): KnownFile | null {
  const inside = rowFor(path, unpacked(start));
  return inside ? { ...inside, what: `${inside.what}, packed by gzip` } : rowFor(path, start);
}

function rowFor(path: string, start: Uint8Array): KnownFile | null {
  const text = Buffer.from(start).toString('latin1').slice(0, LOOKED_AT);
  for (const { begins = '', shows, named, what, advice } of text === '' ? [] : ROWS) {
    const found = shows?.exec(text);
    if (!text.startsWith(begins) || (shows && !found) || (named && !named.test(path))) continue;
    return { what: what.replace('$1', found?.[1] ?? ''), advice };
  }
  return null;
}

/** null, too, if it cannot be read. */
export function knownAt(path: string): KnownFile | null {
  try {
    return knownFile(path, fileStart(path, LOOKED_AT));
  } catch {
    return null;
  }
}

/** Nothing, if it is no gzip file or a damaged one. */
function unpacked(start: Uint8Array): Uint8Array {
  let bytes = new Uint8Array();
  if (start[0] !== 0x1f || start[1] !== 0x8b) return bytes;
  try {
    for (const length of PACKED)
      if (bytes.length < LOOKED_AT)
        bytes = gunzipSync(start.subarray(0, length), { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    // What was unpacked before is looked at.
  }
  return bytes;
}
