/** Different transfers have different ids, also with more steps than an id has bits for. */

import { expect, it } from 'vitest';
import { connectionHash, operationId, transferId, transferName } from '../../src/model/identity.js';

it('distinguishes connections, operations and steps', () => {
  const ids = new Set<string>();
  let transfers = 0;
  for (const [channel, source, destination] of [
    [0, 1, 2],
    [1, 1, 2],
    [0, 2, 1],
  ] as const) {
    const connection = connectionHash({ commId: 0x1234_5678_9abc_def0n, channel, source, destination });
    for (const ordinal of [0, 1, 4096]) {
      const operation = operationId(connection, ordinal);
      for (const step of [0, 1, 4095, 4096, 4097, 8192, 65_536, 2 ** 31 - 1, -1]) {
        const id = transferId(operation, step);
        for (const half of [id.hi, id.lo]) expect(half >>> 0).toBe(half);
        ids.add(transferName(id));
        transfers++;
      }
    }
  }
  expect(ids.size).toBe(transfers);
});
