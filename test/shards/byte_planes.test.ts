import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromPlanes, toPlanes } from '../../src/shards/byte_planes.js';

it('numbers come back from their planes bit by bit, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.double()), (numbers) => {
      const given = Float64Array.from(numbers);
      expect(new Uint8Array(fromPlanes(toPlanes(given)).buffer)).toEqual(new Uint8Array(given.buffer));
    }),
  );
});
