/**
 * One dump of PyTorch's Flight Recorder, checked: the process groups of one rank, and its calls. Pickle and JSON have the same fields, with
 * three differences. JSON has no Python stacks, 0 for a time that is not known, and text for the numbers of `pg_status`. Other fields are
 * not read.
 */

import { PickleError, readPickle, type PickleValue } from './pickle.js';

/** One line of a Python stack, the innermost first. */
export interface Frame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

export interface ProcessGroup {
  /** PyTorch's name of it, mostly a number. */
  readonly name: string;
  /** "TENSOR_MODEL_PARALLEL_GROUP", "default_pg"; may be empty. */
  readonly description: string;
  /** Ranks of the job, in the order of the group. */
  readonly ranks: readonly number[];
}

/** One call on a process group. */
export interface DumpedCall {
  /** Rises with every call of the process. */
  readonly record: number;
  readonly group: string;
  readonly description: string;
  /** The group's number in this process, as in `pg_status`. */
  readonly groupId: number;
  /** Number of the collective in its group, from 1. A coalesced group of calls has one. */
  readonly seq: number;
  readonly isP2p: boolean;
  /** "all_reduce", "send 0->3": ranks in the group. */
  readonly op: string;
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: readonly (readonly number[])[];
  readonly dtypes: readonly string[];
  readonly state: 'scheduled' | 'started' | 'completed';
  /** ns since the Unix epoch, exact to 256 ns. */
  readonly createdNs: number;
  readonly frames: readonly Frame[];
}

export interface Dump {
  readonly path: string;
  readonly rank: number;
  readonly version: string;
  readonly groups: readonly ProcessGroup[];
  /** By `groupId`: the last call that the rank's watchdog saw completed. */
  readonly completed: ReadonlyMap<number, number>;
  /** In order of `record`. */
  readonly calls: readonly DumpedCall[];
}

/** The message says what is wrong, without the file. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Throws DumpError. */
export function readDump(path: string, rank: number, bytes: Uint8Array): Dump {
  const dump = fields(parsed(bytes), 'the dump');
  const version = text(dump.version, 'version');
  if (!/^2\.\d+$/.test(version)) throw new DumpError(`has version ${version}; 2.x is read`);
  const groups = Object.values(fields(dump.pg_config ?? {}, 'pg_config')).map(groupOf);
  const names = new Set(groups.map(({ name }) => name));
  const shared = new SharedLists();
  const calls = list(dump.entries ?? [], 'entries').map((entry) => callOf(entry, shared));
  const stray = calls.find(({ group }) => !names.has(group));
  if (stray) throw new DumpError(`calls on process group ${stray.group}, which its pg_config lacks`);
  return {
    path,
    rank,
    version,
    groups,
    completed: completedOf(dump.pg_status ?? {}),
    calls: calls.sort((a, b) => a.record - b.record),
  };
}

function parsed(bytes: Uint8Array): PickleValue {
  try {
    return bytes[0] === 0x80 ? readPickle(bytes) : (JSON.parse(Buffer.from(bytes).toString()) as PickleValue);
  } catch (error) {
    if (error instanceof PickleError) throw new DumpError(error.message);
    if (error instanceof SyntaxError) throw new DumpError('is neither a pickle nor JSON');
    throw error;
  }
}

function groupOf(value: PickleValue | undefined): ProcessGroup {
  const { name, desc, ranks } = fields(value, 'a process group');
  const numbers = text(ranks, 'ranks of a process group').match(/\d+/g) ?? [];
  return {
    name: text(name, 'name of a process group'),
    description: text(desc ?? '', 'description of a process group'),
    ranks: numbers.map((one) => whole(Number(one), 'rank of a process group')),
  };
}

function completedOf(value: PickleValue): Map<number, number> {
  const found = new Map<number, number>();
  for (const [id, status] of Object.entries(fields(value, 'pg_status')))
    found.set(Number(id), Number(fields(status, 'pg_status').last_completed_collective));
  return found;
}

function callOf(value: PickleValue, shared: SharedLists): DumpedCall {
  const entry = fields(value, 'an entry');
  const [group, description] = list(entry.process_group, 'process_group');
  const state = text(entry.state, 'state');
  if (state !== 'scheduled' && state !== 'started' && state !== 'completed')
    throw new DumpError(`has an unknown state: ${state}`);
  return {
    record: whole(entry.record_id, 'record_id'),
    group: text(group, 'process_group'),
    description: text(description ?? '', 'process_group'),
    groupId: whole(entry.pg_id, 'pg_id'),
    seq: whole(entry.collective_seq_id, 'collective_seq_id'),
    isP2p: entry.is_p2p === true,
    op: text(entry.profiling_name, 'profiling_name').replace(/^nccl:/, ''),
    inputs: shared.sizes(entry.input_sizes),
    outputs: shared.sizes(entry.output_sizes),
    dtypes: shared.texts(entry.input_dtypes),
    state,
    createdNs: Number(entry.time_created_ns ?? 0),
    frames: shared.frames(entry.frames),
  };
}

/**
 * A pickle may name one list a million times. Each list is read once, so reading never takes more time than the file is long.
 */
class SharedLists {
  private readonly size = lister('a size', (one) => whole(one, 'a size'));
  readonly sizes = lister('sizes', this.size);
  readonly texts = lister('dtypes', (one) => text(one, 'dtypes'));
  readonly frames = lister('frames', (one): Frame => {
    const { name, filename, line } = fields(one, 'a frame');
    return { name: text(name, 'a frame'), file: text(filename, 'a frame'), line: whole(line, 'a frame') };
  });
}

/** A missing list is empty. */
function lister<T>(what: string, one: (item: PickleValue) => T) {
  const known = new Map<PickleValue[], readonly T[]>();
  return (value: PickleValue | undefined): readonly T[] => {
    if (value === undefined || value === null) return [];
    const items = list(value, what);
    const made = known.get(items) ?? items.map(one);
    known.set(items, made);
    return made;
  };
}

interface Fields {
  readonly [key: string]: PickleValue | undefined;
}

function fields(value: PickleValue | undefined, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DumpError(`has no fields where ${what} should be`);
  return value;
}

function list(value: PickleValue | undefined, what: string): PickleValue[] {
  if (!Array.isArray(value)) throw new DumpError(`has no list where ${what} should be`);
  return value;
}

function text(value: PickleValue | undefined, what: string): string {
  if (typeof value !== 'string') throw new DumpError(`has no text where ${what} should be`);
  return value;
}

function whole(value: PickleValue | undefined, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new DumpError(`has no whole number where ${what} should be`);
  return value;
}
