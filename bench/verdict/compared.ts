/** Classes in which a run is compared with an earlier one: what NCCL chose differs, and `diff` must say it whatever the noise. */

import type { DrawCase, Drawn } from './scenes.js';
import { lasting } from './scenes.js';

/** `earlier`: its options. */
export const comparedWith = (drawn: Drawn, earlier: string): Drawn => ({
  ...drawn,
  look: { after: 0, isLive: false, how: 'diff' },
  earlier: { args: earlier, isOver: true },
});

/** The later job differs from the earlier one by these options. */
const chosen =
  (before: string, after: string): DrawCase =>
  (draw) => {
    const wishes = {
      ops: ['allreduce:4M', 'allreduce:4M*2,allgather:64K'],
      leastAbi: 4,
      inMemory: false,
      iterations: 16,
    };
    const drawn = lasting(wishes, () => ({
      args: after,
      truth: { culprits: [], beside: [], kinds: ['chosen otherwise'], needsName: false },
    }))(draw);
    return comparedWith(drawn, drawn.args.replaceAll(after, before));
  };

export const CHOICES: Readonly<Record<string, DrawCase>> = {
  'another algorithm': chosen('--algo ring', '--algo tree'),
  'another protocol': chosen('--proto simple', '--proto ll'),
  'another number of channels': chosen('--channels 4', '--channels 2'),
};
