/**
 * Converts between values of our types and values of MessagePack, by descriptions of the types (generated/shapes.ts). Reading checks every
 * value, so a value from a file has its declared type or is refused. A list of objects is written as columns, which takes a third of the
 * bytes and of the time. plausible.ts checks whether the numbers make sense together.
 */

import { ExtData } from '@msgpack/msgpack';
import { OBJECTS } from './generated/shapes.js';
import { fromPlanes, toPlanes } from './byte_planes.js';

export type Shape =
  | 'number'
  | 'bigint'
  | 'string'
  | 'boolean'
  | 'null'
  | 'undefined'
  | keyof typeof ARRAYS
  | { readonly is: readonly (string | number)[] }
  | { readonly of: string }
  | readonly ['array' | 'set' | 'texts', Shape]
  | readonly ['map', Shape, Shape]
  | readonly ['tuple' | 'either', ...Shape[]];

export type Fields = Readonly<Record<string, Shape>>;

/** MessagePack's extension types: the numbers of typed arrays, in little endian. */
const ARRAYS = {
  Float64Array: { type: 1, make: Float64Array },
  Uint32Array: { type: 2, make: Uint32Array },
  Int32Array: { type: 3, make: Int32Array },
  Uint16Array: { type: 4, make: Uint16Array },
  Uint8Array: { type: 5, make: Uint8Array },
  BigUint64Array: { type: 6, make: BigUint64Array },
} as const;
/** Stands for undefined, because MessagePack has no such value. */
const UNDEFINED = new ExtData(16, new Uint8Array(0));

/** A value is not of the type that is expected. The message says where. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

type Wire = unknown;

export function toWire(shape: Shape, value: unknown): Wire {
  if (typeof shape === 'string') {
    if (value === undefined) return UNDEFINED;
    if (shape === 'Float64Array')
      return new ExtData(ARRAYS.Float64Array.type, toPlanes(value as Float64Array));
    if (!(shape in ARRAYS)) return value;
    const { buffer, byteOffset, byteLength } = value as Uint8Array;
    return new ExtData(
      ARRAYS[shape as keyof typeof ARRAYS].type,
      new Uint8Array(buffer, byteOffset, byteLength),
    );
  }
  if ('is' in shape) return value;
  if ('of' in shape) {
    const fields = Object.entries(OBJECTS[shape.of]!);
    return Object.fromEntries(fields.map(([name, own]) => [name, toWire(own, fieldOf(value, name))]));
  }
  const [kind, first = 'null', second = 'null'] = shape;
  switch (kind) {
    case 'array':
      return listToWire(first, value as readonly unknown[]);
    case 'set':
      return listToWire(first, [...(value as ReadonlySet<unknown>)]);
    case 'map': {
      const map = value as ReadonlyMap<unknown, unknown>;
      return [listToWire(first, [...map.keys()]), listToWire(second, [...map.values()])];
    }
    case 'texts':
      return [Object.keys(value as object), listToWire(first, Object.values(value as object))];
    case 'tuple':
      return shape.slice(1).map((own, i) => toWire(own as Shape, (value as readonly unknown[])[i]));
    case 'either':
      return toWire(shape.slice(1).find((own) => fits(own as Shape, value)) as Shape, value);
  }
}

/** Objects as columns, numbers as a typed array. */
function listToWire(shape: Shape, list: readonly unknown[]): Wire {
  if (shape === 'number') return toWire('Float64Array', Float64Array.from(list as readonly number[]));
  if (isMaybeNumber(shape)) {
    const numbers = Float64Array.from(list as readonly (number | null)[], (value) => value ?? 0);
    const isNull = Uint8Array.from(list, (value) => Number(value === null));
    return [toWire('Uint8Array', isNull), toWire('Float64Array', numbers)];
  }
  if (typeof shape === 'string' || !('of' in shape)) return list.map((value) => toWire(shape, value));
  const columns = Object.entries(OBJECTS[shape.of]!).map(([name, own]) => [
    name,
    listToWire(
      own,
      list.map((value) => fieldOf(value, name)),
    ),
  ]);
  return [list.length, Object.fromEntries(columns) as unknown];
}

const isMaybeNumber = (shape: Shape): boolean =>
  Array.isArray(shape) && shape.join() === 'either,null,number';

const fieldOf = (value: unknown, name: string): unknown => (value as Readonly<Record<string, unknown>>)[name];

/** Which of several types a value has: by its class, and for objects by their fields. */
function fits(shape: Shape, value: unknown): boolean {
  if (typeof shape === 'string') {
    if (shape === 'null') return value === null;
    return shape in ARRAYS
      ? value instanceof ARRAYS[shape as keyof typeof ARRAYS].make
      : typeof value === shape;
  }
  if ('is' in shape) return shape.is.includes(value as string);
  if ('of' in shape) {
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(OBJECTS[shape.of]!).every(([name, own]) =>
      typeof own === 'object' && 'is' in own
        ? fits(own, fieldOf(value, name))
        : name in value || isOptional(own),
    );
  }
  if (shape[0] === 'map') return value instanceof Map;
  if (shape[0] === 'set') return value instanceof Set;
  return shape[0] === 'texts' ? typeof value === 'object' && value !== null : Array.isArray(value);
}

const isOptional = (shape: Shape): boolean =>
  shape === 'undefined' || (Array.isArray(shape) && shape[0] === 'either' && shape.includes('undefined'));

/** Throws Mismatch. */
export function fromWire(shape: Shape, wire: Wire, where: string): unknown {
  if (typeof shape === 'string') return plainFrom(shape, wire, where);
  if ('is' in shape) return shape.is.includes(wire as string) ? wire : fail(where, shape.is.join(' or '));
  if ('of' in shape) {
    const columns = recordOf(wire, where);
    const made: Record<string, unknown> = {};
    for (const [name, own] of Object.entries(OBJECTS[shape.of]!)) {
      const value = fromWire(own, columns[name], `${where}.${name}`);
      if (value !== undefined) made[name] = value;
    }
    return made;
  }
  const [kind, first = 'null', second = 'null'] = shape;
  switch (kind) {
    case 'array':
      return listFrom(first, wire, where);
    case 'set':
      return new Set(listFrom(first, wire, where));
    case 'map': {
      const [keys, values] = pairFrom(wire, where);
      const of = listFrom(second, values, where);
      const named = listFrom(first, keys, where);
      return named.length === of.length ? new Map(named.map((key, i) => [key, of[i]])) : fail(where, 'a map');
    }
    case 'texts': {
      const [keys, values] = pairFrom(wire, where);
      const of = listFrom(first, values, where);
      const named = listFrom('string', keys, where) as string[];
      if (named.length !== of.length || named.includes('__proto__')) fail(where, 'a table');
      return Object.fromEntries(named.map((key, i) => [key, of[i]]));
    }
    case 'tuple': {
      const list =
        Array.isArray(wire) && wire.length === shape.length - 1 ? (wire as Wire[]) : fail(where, 'a tuple');
      return list.map((one, i) => fromWire(shape[i + 1] as Shape, one, `${where}[${i}]`));
    }
    case 'either':
      return eitherFrom(shape.slice(1) as Shape[], wire, where);
  }
}

function plainFrom(shape: Shape & string, wire: Wire, where: string): unknown {
  if (shape === 'null') return wire === null ? null : fail(where, 'null');
  if (shape === 'undefined') return isUndefined(wire) ? undefined : fail(where, 'nothing');
  if (!(shape in ARRAYS)) return typeof wire === shape ? wire : fail(where, `a ${shape}`);
  const { type, make } = ARRAYS[shape as keyof typeof ARRAYS];
  const bytes = wire instanceof ExtData && wire.type === type ? wire.data : null;
  if (!(bytes instanceof Uint8Array) || bytes.length % make.BYTES_PER_ELEMENT !== 0)
    return fail(where, shape);
  if (make === Float64Array) return fromPlanes(bytes);
  // The copy is aligned, and does not keep the whole file in memory.
  return new make(bytes.slice().buffer);
}

const isUndefined = (wire: Wire): boolean =>
  wire === undefined || (wire instanceof ExtData && wire.type === UNDEFINED.type);

function eitherFrom(shapes: readonly Shape[], wire: Wire, where: string): unknown {
  // Most values are a number or null. Exceptions as below are slow.
  const plain = shapes.find((shape) => isPlain(shape, wire));
  if (plain !== undefined) return fromWire(plain, wire, where);
  let wrong: unknown = new Mismatch(`${where} is of no type that it may have`);
  for (const shape of shapes) {
    if (typeof shape === 'string' && !(shape in ARRAYS)) continue;
    try {
      return fromWire(shape, wire, where);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      wrong = error;
    }
  }
  throw wrong;
}

const isPlain = (shape: Shape, wire: Wire): boolean =>
  typeof shape === 'string' &&
  (shape === 'null' ? wire === null : shape === 'undefined' ? isUndefined(wire) : typeof wire === shape);

/** Every column is as long as the file says, so a short file cannot claim a long list. */
function listFrom(shape: Shape, wire: Wire, where: string): unknown[] {
  if (shape === 'number') return [...(fromWire('Float64Array', wire, where) as Float64Array)];
  if (isMaybeNumber(shape)) {
    const [nulls, values] = pairFrom(wire, where);
    const isNull = fromWire('Uint8Array', nulls, where) as Uint8Array;
    const numbers = fromWire('Float64Array', values, where) as Float64Array;
    if (isNull.length !== numbers.length) fail(where, 'a whole column');
    return Array.from(numbers, (value, i) => (isNull[i] === 0 ? value : null));
  }
  if (typeof shape === 'string' || !('of' in shape)) {
    const list = Array.isArray(wire) ? (wire as Wire[]) : fail(where, 'a list');
    return list.map((one) => fromWire(shape, one, where));
  }
  const [length, table] = pairFrom(wire, where);
  const record = recordOf(table, where);
  const columns = Object.entries(OBJECTS[shape.of]!).map(([name, own]) => {
    const values = listFrom(own, record[name], `${where}.${name}`);
    return values.length === length ? ([name, values] as const) : fail(`${where}.${name}`, 'a whole column');
  });
  return Array.from({ length: Number(length) }, (_, i) => {
    const made: Record<string, unknown> = {};
    for (const [name, values] of columns) if (values[i] !== undefined) made[name] = values[i];
    return made;
  });
}

const pairFrom = (wire: Wire, where: string): readonly [Wire, Wire] =>
  Array.isArray(wire) && wire.length === 2 ? (wire as [Wire, Wire]) : fail(where, 'a pair');

const recordOf = (wire: Wire, where: string): Readonly<Record<string, Wire>> =>
  typeof wire === 'object' && wire !== null && !Array.isArray(wire) && !(wire instanceof ExtData)
    ? (wire as Record<string, Wire>)
    : fail(where, 'an object');

function fail(where: string, wanted: string): never {
  throw new Mismatch(`${where} is not ${wanted}`);
}
