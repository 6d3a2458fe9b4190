/** Steps with a lost record: no phase is drawn for longer than the records show. */

import { expect, it } from 'vitest';
import { draw } from '../../support/traces/picture.js';
import { coll, outline, recording } from '../../support/made_up/recording.js';

it('the peer wait of a send that ended with its operation ends at its last poll', () => {
  const { file, comm, host, ops, steps } = recording();
  const work = coll(host, comm, 100, 120);
  const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
  const step = steps.startProxyStep(300, { comm, parent: op, step: 4 });
  steps.state(310, step, 8).state(400, step, 20).state(450, step, 20);
  ops.stop(950, op);
  const { sink } = draw(file);
  const lines = outline(sink.lines).filter((line) => line.includes('[step slot 4]'));
  expect(lines.slice(3, 6)).toEqual([
    '400 [step slot 4] begin peer wait',
    '450 [step slot 4] end peer wait',
    '450 [step slot 4] begin not known',
  ]);
});

it('the peer wait of a send that stops in it ends at its last poll', () => {
  const { file, comm, host, ops, steps } = recording();
  const work = coll(host, comm, 100, 120);
  const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
  const step = steps.startProxyStep(300, { comm, parent: op, step: 4 });
  steps.state(310, step, 8).state(400, step, 20).state(450, step, 20).stop(900, step);
  ops.stop(950, op);
  const { sink } = draw(file);
  const lines = outline(sink.lines).filter((line) => line.includes('[step slot 4]'));
  expect(lines.slice(3)).toEqual([
    '400 [step slot 4] begin peer wait',
    '450 [step slot 4] end peer wait',
    '450 [step slot 4] begin not known',
    '900 [step slot 4] end not known',
    '900 [step slot 4] end step',
  ]);
});
