/**
 * Generates src/shards/generated/shapes.ts: what the TypeScript types in src/shards/stored.ts look like at run time, so that a file of
 * one step of a merge is checked before the next step uses it. The result is committed; test/shards/shapes.check.test.ts fails when a type has
 * changed since.
 *
 *   node scripts/generate-shapes.mjs [file]
 *
 * A function or a class among these types is an error: what goes into a file is plain data.
 */

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = path.join(root, 'src/shards/stored.ts');
const output = process.argv[2] ?? path.join(root, 'src/shards/generated/shapes.ts');

const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const program = ts.createProgram([source], { ...options, noEmit: true });
const checker = program.getTypeChecker();

/** Shapes of objects, by name: a type that occurs often is described once. */
const named = new Map();
const nameOf = new Map();
const TYPED_ARRAYS = /^(?:Float64|Uint32|Int32|Uint16|Uint8|BigUint64)Array$/;
const F = ts.TypeFlags;

function shapeOf(type, where) {
  const own = simple(type);
  if (own !== null) return own;
  if (type.isUnion()) return unionOf(type.types, where);
  if (type.isIntersection()) {
    // A number or a text with a brand.
    const plain = type.types.map(simple).find((shape) => shape !== null);
    if (plain !== undefined) return plain;
  }
  const name = type.symbol?.name ?? '';
  const of = checker.getTypeArguments(type);
  if (TYPED_ARRAYS.test(name)) return name;
  if (/^(?:Readonly)?Map$/.test(name))
    return ['map', shapeOf(of[0], `${where} (keys)`), shapeOf(of[1], `${where} (values)`)];
  if (/^(?:Readonly)?Set$/.test(name)) return ['set', shapeOf(of[0], `${where}[]`)];
  if (checker.isTupleType(type)) return ['tuple', ...of.map((one, i) => shapeOf(one, `${where}[${i}]`))];
  if (checker.isArrayType(type)) return ['array', shapeOf(of[0], `${where}[]`)];
  if (type.getCallSignatures().length > 0) throw new Error(`${where} is a function, not data`);
  const texts = checker.getIndexInfoOfType(type, ts.IndexKind.String);
  if (texts) return ['texts', shapeOf(texts.type, `${where}[...]`)];
  return objectOf(type, where);
}

function simple(type) {
  const { flags } = type;
  if (flags & F.StringLiteral) return { is: [type.value] };
  if (flags & F.NumberLiteral) return { is: [type.value] };
  if (flags & F.BooleanLiteral) return 'boolean';
  if (flags & F.BooleanLike) return 'boolean';
  if (flags & F.NumberLike) return 'number';
  if (flags & F.BigIntLike) return 'bigint';
  if (flags & F.StringLike) return 'string';
  if (flags & F.Null) return 'null';
  if (flags & F.Undefined) return 'undefined';
  return null;
}

/** Literals together; each other kind once. */
function unionOf(types, where) {
  const shapes = types.map((one) => shapeOf(one, where));
  const literals = shapes.flatMap((shape) => shape.is ?? []);
  const others = new Map(shapes.filter((shape) => !shape.is).map((shape) => [JSON.stringify(shape), shape]));
  const all = [
    ...(literals.length > 0 && !others.has('"string"') ? [{ is: literals.sort() }] : []),
    ...others.values(),
  ];
  return all.length === 1 ? all[0] : ['either', ...all];
}

function objectOf(type, where) {
  const known = nameOf.get(type);
  if (known !== undefined) return { of: known };
  const base = type.aliasSymbol?.name ?? type.symbol?.name ?? '';
  const stem =
    /^[A-Z]\w*$/.test(base) && !/^(?:Pick|Omit|Record|Readonly|Partial)$/.test(base) ? base : 'Part';
  let name = stem;
  for (let n = 2; named.has(name); n++) name = `${stem}${n}`;
  nameOf.set(type, name);
  named.set(name, null);
  const fields = {};
  for (const property of checker.getPropertiesOfType(type)) {
    const field = property.name;
    fields[field] = shapeOf(checker.getTypeOfSymbol(property), `${where}.${field}`);
  }
  named.set(name, fields);
  return { of: name };
}

const file = program.getSourceFile(source);
const tops = checker
  .getExportsOfModule(checker.getSymbolAtLocation(file))
  .filter((symbol) => symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias));
const types = tops.filter(({ name }) => name === 'StoredTypes');
const entries = types
  .flatMap((symbol) => checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)))
  .map((symbol) => [symbol.name, shapeOf(checker.getTypeOfSymbol(symbol), symbol.name)]);

/** Changes whenever a type does: files of other builds are refused. */
const id = createHash('sha256')
  .update(JSON.stringify([[...named], entries]))
  .digest()
  .readUInt32LE(0);

const line = ([name, shape]) => `  ${name}: ${JSON.stringify(shape)},\n`;
writeFileSync(
  output,
  '// Generated from src/shards/stored.ts by scripts/generate-shapes.mjs. Do not edit.\n\n' +
    `import type { Fields, Shape } from '../shape.js';\n\n` +
    `export const OBJECTS: Readonly<Record<string, Fields>> = {\n${[...named].map(line).join('')}};\n\n` +
    `export const SHAPES_ID = ${id};\n\n` +
    `export const STORED = {\n${entries.map(line).join('')}} as const satisfies Record<string, Shape>;\n`,
);
