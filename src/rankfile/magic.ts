/**
 * Checks the first eight bytes. If they are wrong, the error says what the file is: people give compressed copies, merged traces, and files
 * that a text-mode transfer has changed.
 */

import { RankFileError } from '../base/errors.js';
import { MAGIC } from './format/constants.js';

interface Guess {
  readonly what: string;
  readonly why?: string;
  readonly advice: string;
}

const UNPACK = 'decompress it and name the decompressed file';
const NAME_RANK_FILES = 'name the files that the recorder wrote (rank*.bin)';
const A_DUMP = "a dump of PyTorch's Flight Recorder";
const NAME_ITS_FOLDER = 'name the folder of the dumps with --flight-recorder';

/** "nccl_trace_rank_7", "_dump_12.json" */
export const isDumpName = (path: string): boolean =>
  /(?:rank|trace|dump)_?\d{1,7}(?:\.(?:json|pkl|pickle))?$/.test(path);

/**
 * `start`: the first bytes, fewer if the file is shorter. The first part of the magic passes, too, because then the file is cut, not wrong.
 */
export function checkMagic(path: string, start: Uint8Array): void {
  const expected = MAGIC.slice(0, start.length);
  if (expected.every((byte, i) => byte === start[i])) return;
  const found = guess(path, start);
  const bytes = { offset: 0, expected: hex(expected), found: hex([...start.subarray(0, MAGIC.length)]) };
  throw new RankFileError({ path, ...found, ...(found.why === A_DUMP ? {} : bytes) });
}

function guess(path: string, start: Uint8Array): Guess {
  const text = Buffer.from(start).toString('latin1');
  if (start.every((byte) => byte === 0))
    return {
      what: 'nothing but zeros where its header should be',
      why: 'the job ended while the recorder was creating it, or the copy is a hole',
      advice: 'leave it out',
    };
  if (text.startsWith('\x1f\x8b')) return { what: 'is a gzip file, not a rank file', advice: UNPACK };
  if (text.startsWith('\x28\xb5\x2f\xfd')) return { what: 'is a zstd file, not a rank file', advice: UNPACK };
  if (text.startsWith('PK\x03\x04')) return { what: 'is a zip file, not a rank file', advice: UNPACK };
  if (/^.{0,3}NTR[\r\n]/s.test(text))
    return {
      what: 'was a rank file, but its bytes have been changed',
      why: 'it was copied in text mode, which rewrites line ends or characters',
      advice: 'copy the original again in binary mode',
    };
  const step = /^nccl-trace (scan|study|part)\n/.exec(`${text}\n`)?.[1];
  if (step !== undefined)
    return {
      what: `is a .${step} of nccl-trace, not a rank file`,
      advice:
        'inspect, report, clocks and the tables take a .study; the other files are for "nccl-trace study" and "join"',
    };
  if (start[0] === 0x80 && start[1]! >= 2 && start[1]! <= 5)
    return { what: 'is a Python pickle, not a rank file', why: A_DUMP, advice: NAME_ITS_FOLDER };
  if (/^\s*[[{]/.test(text))
    return isDumpName(path)
      ? { what: 'is JSON, not a rank file', why: A_DUMP, advice: NAME_ITS_FOLDER }
      : { what: 'is JSON, not a rank file', advice: NAME_RANK_FILES };
  return { what: 'not a rank file', advice: NAME_RANK_FILES };
}

const hex = (bytes: readonly number[]): string =>
  bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
