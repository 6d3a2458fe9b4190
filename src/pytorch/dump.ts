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
  /** Number of the collective in its group, from 1 (torchcomms: from 0). A coalesced group of calls has one. */
  readonly seq: number;
  /** Number of the send or receive, or of its coalesced group; 0: the writer does not count them. */
  readonly p2pSeq: number;
  /** Number of the call in its group, of any kind. */
  readonly opId: number;
  readonly isP2p: boolean;
  /** "nccl", "nccl2", "gloo": what stands before the colon of PyTorch's name. */
  readonly backend: string;
  /** "all_reduce", "send 0->3": ranks in the group. */
  readonly op: string;
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: readonly (readonly number[])[];
  /** Types of the inputs; of the outputs if there is no input. */
  readonly dtypes: readonly string[];
  readonly state: 'scheduled' | 'started' | 'completed';
  /** The writer will look at it no more. What that means depends on the writer: see `call_ends.ts`. */
  readonly isRetired: boolean;
  /** `given up`: it ended without being done, by an abort. */
  readonly end: 'pending' | 'finished' | 'given up';
  /** ns since the Unix epoch, exact to 256 ns. 0: not known. */
  readonly createdNs: number;
  readonly startedNs: number;
  readonly completedNs: number;
  /** 0: not known. */
  readonly timeoutMs: number;
  readonly frames: readonly Frame[];
}

/** What a rank's status says of a group: numbers of calls. */
export interface GroupStatus {
  readonly enqueued: number;
  readonly completed: number;
}

export interface Dump {
  readonly path: string;
  readonly rank: number;
  readonly version: string;
  readonly groups: readonly ProcessGroup[];
  /** By `groupId`: what the rank's watchdog saw. */
  readonly status: ReadonlyMap<number, GroupStatus>;
  /** In order of `record`. */
  readonly calls: readonly DumpedCall[];
  /** Groups that the process gave up and replaced, with the call in which it gave up. */
  readonly left: readonly LeftGroup[];
}

export interface LeftGroup extends ProcessGroup {
  /** The first call in it that was not done. */
  readonly call: DumpedCall;
  /** The process made a group of the same name after it. */
  readonly livesOn: boolean;
}

/** The message says what is wrong, without the file. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** A file that a tool wrote in place of a dump, to say why there is none. */
export class ReasonOnly extends DumpError {
  constructor(readonly reason: string) {
    super(`holds only a reason: ${reason}`);
  }
}

/** How its calls ended is not known yet (call_ends.ts). Throws DumpError. `note` gets what is left out. */
export function readDump(
  path: string,
  rank: number,
  bytes: Uint8Array,
  note: (sentence: string) => void = () => undefined,
): Omit<Dump, 'left'> {
  const dump = fields(parsed(bytes), 'the dump');
  if (dump.version === undefined && typeof dump.reason === 'string') throw new ReasonOnly(dump.reason);
  const version = text(dump.version, 'version');
  if (!/^2\.\d+$/.test(version)) throw new DumpError(`has version ${version}; 2.x is read`);
  const groups = groupsOf(dump.pg_config ?? {});
  const names = new Set(groups.map(({ name }) => name));
  const calls = callsOf(list(dump.entries ?? [], 'entries'), note);
  const strays = new Set(calls.map(({ group }) => group).filter((group) => !names.has(group)));
  for (const group of strays)
    note(`its calls on process group ${group} are left out, because its pg_config does not list the ranks`);
  const known = calls.filter(({ group }) => names.has(group)).sort((a, b) => a.record - b.record);
  return { path, rank, version, groups, status: statusOf(dump.pg_status ?? {}), calls: known };
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

/** A file may name one text a million times, so what follows takes as long as all groups' ranks together. */
const MOST_GROUPS = 2048;
const MOST_RANKS = 2 ** 20;
/** Of names, titles, types, numbers in letters. */
const MOST_LETTERS = 4096;

function groupsOf(config: PickleValue): ProcessGroup[] {
  const found = Object.values(fields(config, 'pg_config'));
  if (found.length > MOST_GROUPS) throw new DumpError(`has more than ${MOST_GROUPS} process groups`);
  const known = new Map<string, readonly number[]>();
  let most = MOST_RANKS;
  return found.map((value) => {
    const { name, desc, ranks: written } = fields(value, 'a process group');
    if (typeof written !== 'string')
      throw new DumpError('has no text where ranks of a process group should be');
    const ranks = known.get(written) ?? ranksIn(written);
    known.set(written, ranks);
    if ((most -= ranks.length) < 0)
      throw new DumpError(`has more than ${MOST_RANKS} ranks in its process groups together`);
    return {
      name: text(name, 'name of a process group'),
      description: text(desc ?? '', 'description of a process group'),
      ranks,
    };
  });
}

const ranksIn = (written: string): readonly number[] =>
  (written.match(/\d+/g) ?? []).map((one) => whole(Number(one), 'rank of a process group'));

/** Each record once: a file may name one entry a million times. */
function callsOf(entries: readonly PickleValue[], note: (sentence: string) => void): DumpedCall[] {
  const shared = new SharedLists();
  const found = new Map<number, DumpedCall>();
  for (const entry of new Set(entries)) {
    const call = callOf(entry, shared);
    if (!found.has(call.record)) found.set(call.record, call);
  }
  const repeated = entries.length - found.size;
  if (repeated > 0)
    note(`${repeated} of its entries are left out, because their record_id is that of another`);
  return [...found.values()];
}

function statusOf(value: PickleValue): Map<number, GroupStatus> {
  const found = new Map<number, GroupStatus>();
  for (const [id, one] of Object.entries(fields(value, 'pg_status'))) {
    const status = fields(one, 'pg_status');
    found.set(Number(id), {
      enqueued: number(status.last_enqueued_collective, NaN),
      completed: number(status.last_completed_collective, NaN),
    });
  }
  return found;
}

function callOf(value: PickleValue, shared: SharedLists): DumpedCall {
  const entry = fields(value, 'an entry');
  const [group, description] = list(entry.process_group, 'process_group');
  const state = text(entry.state, 'state');
  if (state !== 'scheduled' && state !== 'started' && state !== 'completed')
    throw new DumpError(`has an unknown state: ${state}`);
  const title = text(entry.profiling_name, 'profiling_name');
  // Any backend stands before the colon. The arguments of a send ("send 0->3") hold none.
  const [, backend = '', op = title] = /^([^:\s]*):(.*)$/.exec(title) ?? [];
  const inputTypes = shared.texts(entry.input_dtypes);
  return {
    record: whole(entry.record_id, 'record_id'),
    group: text(group, 'process_group'),
    description: text(description ?? '', 'process_group'),
    groupId: whole(entry.pg_id, 'pg_id'),
    seq: whole(entry.collective_seq_id, 'collective_seq_id'),
    p2pSeq: number(entry.p2p_seq_id),
    opId: number(entry.op_id),
    isP2p: entry.is_p2p === true || /^(send|recv|batch_op_issue)\b/.test(op),
    backend,
    op,
    inputs: shared.sizes(entry.input_sizes),
    outputs: shared.sizes(entry.output_sizes),
    dtypes: inputTypes.length > 0 ? inputTypes : shared.texts(entry.output_dtypes),
    state,
    isRetired: entry.retired === true,
    end: 'pending',
    createdNs: number(entry.time_created_ns),
    startedNs: number(entry.time_discovered_started_ns),
    completedNs: number(entry.time_discovered_completed_ns),
    timeoutMs: number(entry.timeout_ms),
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
  if (value.length > MOST_LETTERS) throw new DumpError(`has ${value.length} letters where ${what} should be`);
  return value;
}

/** Also one in letters, as JSON has it. NaN: no number. */
function number(value: PickleValue | undefined, missing = 0): number {
  if (value === undefined || value === null) return missing;
  if (typeof value === 'string') return value.length > MOST_LETTERS ? NaN : Number(value);
  return typeof value === 'object' ? NaN : Number(value);
}

function whole(value: PickleValue | undefined, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new DumpError(`has no whole number where ${what} should be`);
  return value;
}
