/** Values that are cut out of a JSON text are those that JSON.parse finds in the whole of it, wherever the chunks end. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digitsOf, type Json, JsonValues } from '../../src/foreign/beside/json_values.js';

interface Read {
  readonly elements: Json[];
  readonly members: Record<string, Json>;
}

function read(text: string, chunk = 7): Read {
  const found: Read = { elements: [], members: {} };
  const values = new JsonValues({
    array: 'list',
    element: (value, text) => {
      expect(JSON.parse(text)).toEqual(value);
      found.elements.push(value);
    },
    member: (name, value) => {
      found.members[name] = value;
    },
    check: () => undefined,
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) values.write(bytes.subarray(at, at + chunk));
  values.end();
  return found;
}

const anyObject = fc.record({
  before: fc.jsonValue(),
  list: fc.array(fc.jsonValue()),
  'after "that"': fc.jsonValue(),
});

it('are the same, in chunks of any size, with or without spaces', () => {
  const written = fc.tuple(anyObject, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 1, '\t'));
  fc.assert(
    fc.property(written, ([value, chunk, space]) => {
      // A double of more than 15 characters is kept as text, which another test is about.
      const text = JSON.stringify(
        value,
        (_, one: unknown) => (typeof one === 'number' ? Math.trunc(one % 1e9) : one),
        space,
      );
      const { list, ...members } = JSON.parse(text) as { list: Json[] };
      expect(read(text, chunk)).toEqual({ elements: list, members });
    }),
    { numRuns: 200 },
  );
});

it('keep the digits of numbers that a double would round, but not those in texts', () => {
  const { elements, members } = read(
    '{"list": [1748000000123456.789, [-12345678901234567890], {"a": 1.5, "b": "1748000000123456.789"}], "x": 0.1234567890123456e-300}',
  );
  const [time, [id], rest] = elements as [Json, [Json], Json];
  expect([time, id, members.x].map(digitsOf)).toEqual([
    '1748000000123456.789',
    '-12345678901234567890',
    '0.1234567890123456e-300',
  ]);
  expect(rest).toEqual({ a: 1.5, b: '1748000000123456.789' });
});

const GOOD = '{"a": {"b": [1, "}"]}, "list": [{"ts": 1748000000123456.789}, 2, "\\"]"], "c": null} ';

it('are not taken from a text that is cut off anywhere', () => {
  read(GOOD);
  for (let end = 1; end < GOOD.length - 1; end++)
    expect(() => read(GOOD.slice(0, end)), GOOD.slice(0, end)).toThrow();
});

it.each([
  ['two values without a comma', '{"list": [1 2]}'],
  ['a comma too many', '{"list": [1, ]}'],
  ['another one', '{"list": [1], }'],
  ['no colon', '{"list" [1]}'],
  ['a name that is no text', '{1: 2}'],
  ['a name that is a long number', '{1234567890123456: 2}'],
  ['such a name inside a value', '{"list": [{1234567890123456 : 2}]}'],
  ['brackets that do not fit', '{"list": [{"a": 1]}'],
  ['a word that is none', '{"list": [nul]}'],
  ['a long number that is none', '{"list": [12345678901234.56.78]}'],
  ['something behind it', '{"list": []} {}'],
])('%s is refused', (_, text) => {
  expect(() => read(text)).toThrow();
});
