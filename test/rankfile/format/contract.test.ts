/**
 * One contract, three texts: native/format/rank_file.h, schemas/rank-file.md, src/rankfile/format. This test compares
 * them, and changes copies of them to show that it finds differences.
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import * as constants from '../../../src/rankfile/format/constants.js';
import {
  assertedOffsets,
  type Contract,
  fromDocument,
  fromHeader,
  fromTypeScript,
  type Struct,
} from './contract_sources.js';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const header = read('native/format/rank_file.h');
const document = read('schemas/rank-file.md');

/** The header has no NCCL numbers, and names inner fields of structures only in comments. */
const withoutNccl = ({ enums }: Contract): Contract['enums'] =>
  Object.fromEntries(Object.entries(enums).filter(([name]) => !name.startsWith('Event')));

const offsets = (structs: Contract['structs']): Record<string, Struct> =>
  Object.fromEntries(
    Object.entries(structs).map(([name, fields]) => [
      name,
      Object.fromEntries(
        Object.entries(fields)
          .filter(([field]) => !field.startsWith('reserved'))
          .map(([field, place]) => [field, place.split(' ')[0] ?? '']),
      ),
    ]),
  );

/** Compares everything that both the header and the document say. */
function headerAgainstDocument(headerText: string, documentText: string): void {
  const ours = fromHeader(headerText);
  const theirs = fromDocument(documentText);
  expect(theirs.magic).toBe(ours.magic);
  expect(theirs.constants).toEqual(ours.constants);
  expect(withoutNccl(theirs)).toEqual(ours.enums);
  expect(theirs.structs).toEqual(ours.structs);
  expect(comparableWords(theirs.words, ours.words)).toEqual(comparableWords(ours.words, ours.words));
}

function documentAgainstTypeScript(documentText: string): void {
  const theirs = fromDocument(documentText);
  const ours = fromTypeScript();
  expect(ours.magic).toBe(theirs.magic);
  expect(ours.constants).toEqual(theirs.constants);
  expect(ours.enums).toEqual(theirs.enums);
  expect(ours.structs).toEqual(offsets(theirs.structs));
  expect(ours.words).toEqual(theirs.words);
  expect(theirs.slots).toMatchObject(ours.slots);
}

/**
 * Slot by slot, for the kinds that the header describes. Where it has prose ("REALTIME ns"), only the shape of the word is
 * compared: which bits are in use.
 */
function comparableWords(
  words: Contract['words'],
  header: Contract['words'],
): Record<string, readonly (readonly string[])[]> {
  return Object.fromEntries(
    Object.entries(header).map(([kind, prose]) => {
      const slots = (words[kind] ?? []).flatMap((notation) => notation.split(' ; '));
      return [
        kind,
        slots.map((slot, i) => slot.split(' | ').map((word, j) => shape(word, prose[i]?.split(' | ')[j]))),
      ];
    }),
  );
}

function shape(word: string, inHeader: string | undefined): string {
  const isProse = inHeader?.includes(' ') === true && !inHeader.includes(':');
  return isProse && word !== '0' && !word.includes(':') ? 'one field of 64 bits' : word;
}

describe('the rank file contract', () => {
  it('is the same in the header and in the document', () => {
    headerAgainstDocument(header, document);
  });

  it('is the same in the document and in src/rankfile/format', () => {
    documentAgainstTypeScript(document);
  });

  it('lays structures out as the header asserts', () => {
    const { structs } = fromHeader(header);
    const asserted = assertedOffsets(header);
    expect(asserted.length).toBeGreaterThan(60);
    for (const { struct, field, offset } of asserted)
      expect([struct, field, structs[struct]?.[field]?.split(' ')[0]]).toEqual([struct, field, `${offset}`]);
    for (const [name, bytes] of sizes(header))
      expect([name, end(structs[name] ?? {})]).toEqual([name, bytes]);
  });

  it('has text fields of the same size in src/rankfile/format', () => {
    const { FileHeader = {} } = fromDocument(document).structs;
    const texts = Object.entries(FileHeader).filter(([, place]) => place.endsWith('text'));
    expect(Object.values(constants.TEXT_BYTES)).toEqual(
      texts.map(([, place]) => Number(place.split(' ')[1])),
    );
  });
});

function sizes(headerText: string): [string, number][] {
  return [...headerText.matchAll(/sizeof\((\w+)\) == (\d+)/g)].map(([, name = '', bytes = '']) => [
    name,
    Number(bytes),
  ]);
}

const end = (struct: Struct): number =>
  Math.max(
    ...Object.values(struct).map((place) => Number(place.split(' ')[0]) + Number(place.split(' ')[1])),
  );

describe('the comparison', () => {
  const headerMutations: [string, string, string][] = [
    ['a kind', 'kStop = 0x31', 'kStop = 0x34'],
    ['a new kind', 'kLeaseEnd = 0x08,', 'kLeaseEnd = 0x08, kNew = 0x43,'],
    ['a constant', 'kHandleRingShift = 41', 'kHandleRingShift = 42'],
    ['a computed constant', '(uint64_t{1} << 40) - 1;', '(uint64_t{1} << 41) - 1;'],
    [
      'a new constant',
      'constexpr uint32_t kMaxParts = 15;',
      'constexpr uint32_t kMaxParts = 15;\nconstexpr int kNew = 1;',
    ],
    ['the magic', "0x8E, 'N'", "0x8F, 'N'"],
    ['a field moved', '  uint64_t head;  ', '  uint64_t other;\n  uint64_t head;  '],
    ['a field retyped', '  int32_t rank; ', '  uint32_t rank;'],
    [
      'a field taken from the reserved bytes',
      'uint8_t reserved_d[1920];',
      'uint64_t fresh;\n  uint8_t reserved_d[1912];',
    ],
    ['an enumerator', 'kRingOps = 2', 'kRingOps = 5'],
    ['a bit field', 'comm:32 peer:32 ;', 'comm:32 channel:32 ;'],
    ['the order of words', 'tick | parent | comm:32 step:32', 'tick | comm:32 step:32 | parent'],
    ['bits of a table', 'nNodes:32 abi:8 0:24', 'nNodes:32 abi:16 0:16'],
    ['a version', 'kReaderVersion = 1', 'kReaderVersion = 2'],
  ];

  it.each(headerMutations)('notices %s changed in the header', (_, from, to) => {
    expect(header.split(from).length).toBeGreaterThan(1);
    expect(() => {
      headerAgainstDocument(header.replace(from, to), document);
    }).toThrow();
  });

  const documentMutations: [string, string, string][] = [
    ['a kind', '| 0x31 | Stop | 1 |', '| 0x34 | Stop | 1 |'],
    ['the slots of a kind', '| 0x12 | StartP2p | 3 |', '| 0x12 | StartP2p | 4 |'],
    ['a word', '| 0 | tick | handle | state:16 value:48 |', '| 0 | tick | handle | state:32 value:32 |'],
    ['an offset', '| 8 | 8 | u64 | folded |', '| 16 | 8 | u64 | folded |'],
    ['a constant', '| CONTEXT_RING | 63 |', '| CONTEXT_RING | 62 |'],
    ['a state', '| 20 | SendPeerWait |', '| 21 | SendPeerWait |'],
    ['an event type', '| 0x40 | KernelCh |', '| 0x80 | KernelCh |'],
  ];

  it.each(documentMutations)('notices %s changed in the document', (_, from, to) => {
    expect(document.split(from)).toHaveLength(2);
    expect(() => {
      documentAgainstTypeScript(document.replace(from, to));
    }).toThrow();
  });
});
