/**
 * Checks the first eight bytes. If they are wrong, the error says what the file is: people give compressed copies, merged traces, and files
 * that a text-mode transfer has changed.
 */

import { RankFileError } from '../base/errors.js';
import { knownFile, LOOKED_AT } from '../foreign/known_files.js';
import type { ByteSource } from './byte_source.js';
import { MAGIC } from './format/constants.js';

const UNKNOWN = { what: 'not a rank file', advice: 'name the files that the recorder wrote (rank*.bin)' };

/** `header`: its first bytes. The first part of the magic passes, too, because then the file is cut, not wrong. */
export function checkMagic(source: ByteSource, header: Uint8Array): void {
  const { path } = source;
  const expected = MAGIC.slice(0, header.length);
  if (expected.every((byte, i) => byte === header[i])) return;
  const start = source.read(0, LOOKED_AT);
  const known = ourOwn(start);
  const foreign = known ? null : knownFile(path, start);
  if (foreign)
    throw new RankFileError({ path, what: `is ${foreign.what}, not a rank file`, advice: foreign.advice });
  const bytes = { offset: 0, expected: hex(expected), found: hex([...start.subarray(0, MAGIC.length)]) };
  throw new RankFileError({ path, ...(known ?? UNKNOWN), ...bytes });
}

/** Rank files that were changed, and what our own commands write. */
function ourOwn(start: Uint8Array): { what: string; why?: string; advice: string } | null {
  const text = Buffer.from(start.subarray(0, 32)).toString('latin1');
  if (start.subarray(0, 16).every((byte) => byte === 0))
    return {
      what: 'nothing but zeros where its header should be',
      why: 'the job ended while the recorder was creating it, or the copy is a hole',
      advice: 'leave it out',
    };
  if (/^.{0,3}NTR[\r\n]/s.test(text))
    return {
      what: 'was a rank file, but its bytes have been changed',
      why: 'it was copied in text mode, which rewrites line ends or characters',
      advice: 'copy the original again in binary mode',
    };
  const step = /^nccl-trace (scan|study|part)\n/.exec(`${text}\n`)?.[1];
  if (step === undefined) return null;
  return {
    what: `is a .${step} of nccl-trace, not a rank file`,
    advice:
      'inspect, report, clocks and the tables take a .study; the other files are for "nccl-trace study" and "join"',
  };
}

const hex = (bytes: readonly number[]): string =>
  bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
