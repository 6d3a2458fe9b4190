/**
 * The rule for all outputs, also with --force: never overwrite evidence. An existing file is replaced only if nccl-trace wrote it as the
 * same kind of output, or if it is empty, and never if it is an input. FIFOs and devices are written to, not replaced, so
 * they need no --force.
 */

import { statSync } from 'node:fs';
import { OutputError, UsageError } from '../base/errors.js';
import { MAGIC } from '../rankfile/format/constants.js';
import { fileStart } from './file_start.js';
import { idOf, placeOf, type Place } from './place.js';
import { reason } from '../base/reason.js';

/** A kind of file that we write: a trace, a summary. */
export interface OutputKind {
  /** "a trace". */
  readonly name: string;
  /** The option that names it, with an example: "-o run.pftrace". */
  readonly option: string;
  /** Mode of a new file, before the umask; absent: its user alone may read it. */
  readonly mode?: number;
  /** Whether we wrote the file, by its beginning. Throws the system's errors. */
  readonly wrote: (path: string) => boolean;
}

export interface Output {
  readonly path: string;
  readonly kind: OutputKind;
}

export interface Permission {
  readonly force: boolean;
  /** Files that are read. Missing ones do not count. */
  readonly inputs: readonly string[];
  /** The other kinds we write: the error names them if one is in the way. */
  readonly others?: readonly OutputKind[];
}

/** Called early, so that a command does not fail after long work. Throws OutputError. Throws UsageError if two outputs have one place. */
export function checkOutputs(outputs: readonly Output[], permission: Permission): Place[] {
  const places = outputs.map((output) => checkOutput(output, permission));
  places.forEach((place, i) => {
    const same = places.slice(0, i).find((other) => isSame(place, other));
    if (same === undefined) return;
    const [first, second] = [outputs[places.indexOf(same)]!, outputs[i]!];
    throw new UsageError(
      `${second.path}: is named for both ${first.kind.name} and ${second.kind.name}; ` +
        `give two names (${first.kind.option}, ${second.kind.option})`,
    );
  });
  return places;
}

export function checkOutput({ path, kind }: Output, { force, inputs, others = [] }: Permission): Place {
  const place = placeOf(path);
  const name = `name ${kind.name} with ${kind.option}`;
  if (place.id !== null && inputs.some((input) => inputId(input) === place.id))
    throw new OutputError(path, 'is one of the inputs, which are never replaced', name);
  if (place.kind !== 'file' || place.bytes === null) return place;
  if (place.bytes > 0n) {
    const found = whatIsThere(place.path, [kind, ...others]);
    if (found === 'a rank file')
      throw new OutputError(
        path,
        'is a rank file, which is never replaced',
        `${name}; was its value left out?`,
      );
    if (found === null)
      throw new OutputError(
        path,
        `is not ${kind.name} written by nccl-trace, so it is not replaced`,
        `choose another name, as in ${kind.option}`,
      );
    if (found !== kind)
      throw new OutputError(
        path,
        `is ${found.name}, which is never replaced by ${kind.name}`,
        `${found.option} names ${found.name}, ${kind.option} ${kind.name}`,
      );
  }
  if (!force) throw new OutputError(path, 'already exists', 'use --force to replace it');
  return place;
}

/** Two outputs may go to one terminal, or to /dev/null. */
const isSame = (one: Place, other: Place): boolean =>
  one.kind === 'device' || other.kind === 'device'
    ? false
    : one.id === null
      ? one.kind === 'file' && other.kind === 'file' && one.path === other.path
      : one.id === other.id;

function inputId(input: string): string | null {
  try {
    return idOf(statSync(input, { bigint: true }));
  } catch {
    return null;
  }
}

function whatIsThere(path: string, kinds: readonly OutputKind[]): OutputKind | 'a rank file' | null {
  try {
    if (isRankFile(path)) return 'a rank file';
    return kinds.find(({ wrote }) => wrote(path)) ?? null;
  } catch (error) {
    throw new OutputError(
      path,
      `cannot be read (${reason(error)}), so it is not replaced`,
      'choose another name',
      {
        cause: error,
      },
    );
  }
}

/** Also true for saved rings, because they begin with the same bytes. */
const isRankFile = (path: string): boolean => fileStart(path, MAGIC.length).equals(Uint8Array.from(MAGIC));
