/**
 * One dump of PyTorch's Flight Recorder, checked: the process groups of one rank, and its calls. Pickle and JSON have the same fields, with
 * three differences. JSON has no Python stacks, 0 for a time that is not known, and text for the numbers of `pg_status`. Other fields are
 * not read.
 */

import { entryOf } from '../base/grouped.js';
import { memoized } from '../base/memoized.js';
import { STATES, type Calls, type CallKind, type DumpedCall, type Frame, type ReadCall } from './calls.js';
import { PickleDict, PickleError, readPickle, type PickleValue } from './pickle.js';

export interface ProcessGroup {
  /** PyTorch's name of it, mostly a number. */
  readonly name: string;
  /** "TENSOR_MODEL_PARALLEL_GROUP", "default_pg"; may be empty. */
  readonly description: string;
  /** Ranks of the job, in the order of the group. */
  readonly ranks: readonly number[];
}

/** What a rank's status says of a group: numbers of calls. */
export interface GroupStatus {
  readonly enqueued: number;
  readonly completed: number;
}

/** A dump as it was read. How its calls ended is not known yet (call_ends.ts). */
export interface ReadDump {
  readonly path: string;
  readonly rank: number;
  readonly version: string;
  readonly groups: readonly ProcessGroup[];
  /** By `groupId`: what the rank's watchdog saw. */
  readonly status: ReadonlyMap<number, GroupStatus>;
  /** In order of `record`. */
  readonly calls: readonly ReadCall[];
}

export interface Dump extends Omit<ReadDump, 'calls'> {
  readonly calls: Calls;
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

/** Throws DumpError. `note` gets what is left out. `kinds`: those of the dumps that were read before. */
export function readDump(
  path: string,
  rank: number,
  bytes: Buffer,
  note: (sentence: string) => void = () => undefined,
  kinds = new CallKinds(),
): ReadDump {
  const dump = fields(parsed(bytes), 'the dump');
  const reason = dump.get('reason');
  if (dump.get('version') === undefined && typeof reason === 'string') throw new ReasonOnly(reason);
  const version = text(dump.get('version'), 'version');
  if (!/^2\.\d+$/.test(version)) throw new DumpError(`has version ${version}; 2.x is read`);
  const groups = groupsOf(dump.get('pg_config'));
  const names = new Set(groups.map(({ name }) => name));
  const calls = callsOf(list(dump.get('entries') ?? [], 'entries'), new Reader(kinds), note);
  for (const stray of new Set(calls.map(({ kind }) => kind.group).filter((group) => !names.has(group))))
    note(`its calls on process group ${stray} are left out, because its pg_config does not list the ranks`);
  const known = calls.filter(({ kind }) => names.has(kind.group)).sort((a, b) => a.record - b.record);
  return { path, rank, version, groups, status: statusOf(dump.get('pg_status')), calls: known };
}

function parsed(bytes: Buffer): PickleValue {
  try {
    return bytes[0] === 0x80 ? readPickle(bytes) : (JSON.parse(bytes.toString(), asInPickle) as PickleValue);
  } catch (error) {
    if (error instanceof PickleError) throw new DumpError(error.message);
    if (error instanceof SyntaxError) throw new DumpError('is neither a pickle nor JSON');
    throw error;
  }
}

const asInPickle = (_: string, value: PickleValue | { [key: string]: PickleValue }): PickleValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? new PickleDict(Object.entries(value).flatMap((pair): PickleValue[] => pair))
    : value;

/** A file may name one text a million times, so what follows takes as long as all groups' ranks together. */
const MOST_GROUPS = 2048;
const MOST_RANKS = 2 ** 20;
/** Of names, titles, types, numbers in letters. */
const MOST_LETTERS = 4096;

function groupsOf(config: PickleValue | undefined): ProcessGroup[] {
  const found = entriesOf(config, 'pg_config');
  if (found.length > MOST_GROUPS) throw new DumpError(`has more than ${MOST_GROUPS} process groups`);
  const known = new Map<string, readonly number[]>();
  let most = MOST_RANKS;
  return found.map(([, value]) => {
    const group = fields(value, 'a process group');
    const written = group.get('ranks');
    if (typeof written !== 'string')
      throw new DumpError('has no text where ranks of a process group should be');
    const ranks = known.get(written) ?? ranksIn(written);
    known.set(written, ranks);
    if ((most -= ranks.length) < 0)
      throw new DumpError(`has more than ${MOST_RANKS} ranks in its process groups together`);
    return {
      name: text(group.get('name'), 'name of a process group'),
      description: text(group.get('desc') ?? '', 'description of a process group'),
      ranks,
    };
  });
}

const ranksIn = (written: string): readonly number[] =>
  (written.match(/\d+/g) ?? []).map((one) => whole(Number(one), 'rank of a process group'));

/** Each record once: a file may name one entry a million times. */
function callsOf(
  entries: readonly PickleValue[],
  reader: Reader,
  note: (sentence: string) => void,
): ReadCall[] {
  const found = new Map<number, ReadCall>();
  for (const entry of new Set(entries)) {
    const call = reader.call(entry);
    if (!found.has(call.record)) found.set(call.record, call);
  }
  const repeated = entries.length - found.size;
  if (repeated > 0)
    note(`${repeated} of its entries are left out, because their record_id is that of another`);
  return [...found.values()];
}

function statusOf(value: PickleValue | undefined): Map<number, GroupStatus> {
  return new Map(
    entriesOf(value, 'pg_status').map(([id, one]) => {
      const status = fields(one, 'pg_status');
      const enqueued = number(status.get('last_enqueued_collective'), NaN);
      return [Number(id), { enqueued, completed: number(status.get('last_completed_collective'), NaN) }];
    }),
  );
}

/** Kinds of calls and their stacks, each once. */
export class CallKinds {
  readonly all = new Map<string, CallKind>();
  private readonly stacks = new Map<number, (readonly Frame[])[]>();
  private readonly numbers = new Map<readonly Frame[], number>();

  /** `frames` as it was read. A stack that is known was checked before. */
  stack(frames: readonly PickleDict[]): { readonly frames: readonly Frame[]; readonly number: number } {
    const hash = frames.reduce((sum, frame) => (Math.imul(sum, 31) + Number(frame.get('line'))) | 0, 0);
    const alike = this.stacks.get(hash) ?? [];
    const isSame = (stack: readonly Frame[]): boolean =>
      stack.length === frames.length &&
      stack.every(({ name, file, line }, i) => {
        const frame = frames[i]!;
        return frame.get('line') === line && frame.get('name') === name && frame.get('filename') === file;
      });
    const known = alike.find(isSame) ?? frames.map(frameIn);
    if (!this.numbers.has(known)) {
      this.numbers.set(known, this.numbers.size);
      this.stacks.set(hash, [...alike, known]);
    }
    return { frames: known, number: this.numbers.get(known)! };
  }
}

const frameIn = (frame: PickleDict): Frame => ({
  name: text(frame.get('name'), 'a frame'),
  file: text(frame.get('filename'), 'a frame'),
  line: whole(frame.get('line'), 'a frame'),
});

/** Entries of one dump. */
class Reader {
  private readonly size = lister('a size', (one) => whole(one, 'a size'));
  private readonly sizes = lister('sizes', this.size);
  private readonly texts = lister('dtypes', (one) => text(one, 'dtypes'));
  private readonly frames = lister('frames', (one) => fields(one, 'a frame'));
  private readonly stack = memoized((frames: readonly PickleDict[]) => this.kinds.stack(frames));

  constructor(private readonly kinds: CallKinds) {}

  call(value: PickleValue): ReadCall {
    const entry = fields(value, 'an entry');
    const state = STATES.find((one) => one === entry.get('state'));
    if (state === undefined)
      throw new DumpError(`has an unknown state: ${text(entry.get('state'), 'state')}`);
    return {
      kind: this.kind(entry),
      record: whole(entry.get('record_id'), 'record_id'),
      seq: whole(entry.get('collective_seq_id'), 'collective_seq_id'),
      p2pSeq: number(entry.get('p2p_seq_id')),
      opId: number(entry.get('op_id')),
      createdNs: number(entry.get('time_created_ns')),
      startedNs: number(entry.get('time_discovered_started_ns')),
      completedNs: number(entry.get('time_discovered_completed_ns')),
      ...{ state, isRetired: entry.get('retired') === true, end: 'pending', batch: 0 },
    };
  }

  private kind(entry: PickleDict): CallKind {
    const [group, description] = list(entry.get('process_group'), 'process_group');
    const title = text(entry.get('profiling_name'), 'profiling_name');
    const { frames, number: stack } = this.stack(this.frames(entry.get('frames')));
    const [inputs, outputs] = [this.sizes(entry.get('input_sizes')), this.sizes(entry.get('output_sizes'))];
    const inputTypes = this.texts(entry.get('input_dtypes'));
    const dtypes = inputTypes.length > 0 ? inputTypes : this.texts(entry.get('output_dtypes'));
    const names = `${text(group, 'process_group')}\0${text(description ?? '', 'process_group')}\0${title}`;
    const groupId = whole(entry.get('pg_id'), 'pg_id');
    const timeoutMs = number(entry.get('timeout_ms'));
    const isP2p = entry.get('is_p2p') === true;
    const sizes = `${inputs.length} ${inputs.join(' ')} ${outputs.join(' ')}`;
    const key = `${names}\0${groupId} ${timeoutMs} ${isP2p} ${stack} ${sizes} ${dtypes.join()}`;
    return entryOf(this.kinds.all, key, () => ({
      ...callNamed(title, isP2p),
      ...{ group: group as string, description: (description ?? '') as string, groupId, timeoutMs },
      ...{ inputs, outputs, dtypes, frames },
    }));
  }
}

/** Any backend stands before the colon. The arguments of a send ("send 0->3") hold none. */
function callNamed(title: string, isP2p: boolean): Pick<CallKind, 'backend' | 'op' | 'isP2p'> {
  const [, backend = '', op = title] = /^([^:\s]*):(.*)$/.exec(title) ?? [];
  return { backend, op, isP2p: isP2p || /^(send|recv|batch_op_issue)\b/.test(op) };
}

/**
 * A missing list is empty. A pickle may name one list a million times. A long one is read once, so reading never takes much more time than
 * the file is long.
 */
function lister<T>(what: string, one: (item: PickleValue) => T) {
  const known = new Map<PickleValue[], readonly T[]>();
  return (value: PickleValue | undefined): readonly T[] => {
    if (value === undefined || value === null) return [];
    const items = list(value, what);
    if (items.length < 8) return items.map(one);
    const made = known.get(items) ?? items.map(one);
    known.set(items, made);
    return made;
  };
}

function fields(value: PickleValue | undefined, what: string): PickleDict {
  if (!(value instanceof PickleDict)) throw new DumpError(`has no fields where ${what} should be`);
  return value;
}

const entriesOf = (value: PickleValue | undefined, what: string): [PickleValue, PickleValue][] =>
  value === undefined || value === null ? [] : fields(value, what).entries();

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
