/** When the steps of a collective arrived, and when its GPU had filled its sends: sums of all operations of the collective. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanFile } from '../../src/scan/scan.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';

const folder = folderOfFile();

/** Two channels, each with two received and two sent steps; the last send has not ended. A tick is a ns. */
function passed(abi: number) {
  const file = new RankFileBuilder({ rank: 0, worldSize: 2, life: 'closed' });
  const comm = file.communicator({ name: 'world', commId: 1n, rank: 0, nRanks: 2, abi });
  const host = file.ring('host', 16, { tid: 1 });
  const ops = file.ring('ops', 16, { tid: 2 });
  const steps = file.ring('steps', 128, { tid: 2 });
  const parent = host.startColl(1000, { comm, func: 'AllReduce', seqNumber: 0, algo: 'RING', proto: 'LL' });
  host.stop(1010, parent);
  for (const channel of [0, 1]) {
    const common = { comm, parent, channel, peer: 1, nSteps: 2 };
    const begin = 2000 + 10_000 * channel;
    const recv = ops.startProxyOp(begin, common);
    const send = ops.startProxyOp(begin + 1, { ...common, isSend: true });
    for (const step of [0, 1]) {
      const at = begin + 1000 * (step + 1);
      const [received, sent] = [recv, send].map((op) =>
        steps.startProxyStep(at, { comm, parent: op, step }),
      ) as [bigint, bigint];
      steps
        .state(at + 1, received, 10)
        .state(at + 2, sent, 8)
        .state(at + 100, received, 11, 64)
        .state(at + 110, received, 12)
        .stop(at + 120, received);
      // The GPU has filled it at +300, the receiver has room at +350, and the wire is done at +400.
      steps
        .state(at + 300, sent, 20)
        .state(at + 350, sent, 9, 64)
        .stop(at + 400, sent);
    }
    ops.stop(begin + 3000, recv);
    if (channel === 0) ops.stop(begin + 3000, send);
  }
  const path = join(folder, `passed${abi}.bin`);
  file.clockSample(0).heartbeat(100_000).write(path);
  const { sends, sentSteps, sentAt, onWire, receivedSteps, receivedAt } = scanFile(path).workEnds;
  return Object.fromEntries(
    Object.entries({ sends, sentSteps, sentAt, onWire, receivedSteps, receivedAt }).map(([name, column]) => [
      name,
      column[0]!,
    ]),
  );
}

it('each step of an operation that has ended counts once', () => {
  // Received: 3100, 4100, 13100, 14100. Sent: 3300 and 4300.
  expect(passed(6)).toEqual({
    ...{ sends: 1, sentSteps: 2, sentAt: 3800, onWire: 100 },
    ...{ receivedSteps: 4, receivedAt: 8600 },
  });
});

it('before v4 no state tells that the receiver has no room, so it is not known when a send was filled', () => {
  expect(passed(3)).toMatchObject({
    sends: 0,
    sentSteps: 0,
    sentAt: NaN,
    receivedSteps: 4,
    receivedAt: 8600,
  });
});
