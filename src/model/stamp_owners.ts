/**
 * Whose stamps a KernelCh carries. NCCL's host counts the works of a channel to find a kernel's stamps; where it lags behind the
 * device (self-sends, Broadcast groups, replays) it reads the stamps of the work before, and does so from then on. Told here: a
 * start that the GPU stamped before the work was called, by a clock that cannot be more than a bound ahead; and what follows it in
 * the same channel. Needs no solved clock, so both passes agree.
 */

import { maxOf } from '../base/extremes.js';
import type { Ticks } from '../base/time.js';
import type { Kernel, Work } from './types.js';

/** ns: what the bound may be wrong by, beside the drift. */
const SLACK = 1e5;
/** Of a GPU's clock against the host's. */
const MAX_DRIFT = 200e-6;

/** GPU time + offset is no earlier than host time was when a kernel was noticed: by how much, ns. */
interface Notice {
  readonly offset: number;
  readonly at: number;
  readonly work: Work | null;
}

interface CommStamps {
  /** The two least offsets, of different works: one stamp from the future must not judge all others. */
  least: Notice[];
  /** Channels whose counter lags. */
  readonly lagging: Set<number>;
}

export class StampOwners {
  private readonly comms = new Map<number, CommStamps>();
  private readonly nsPerTick: number;

  constructor(tickHz: number) {
    this.nsPerTick = 1e9 / tickHz;
  }

  /** When it starts; `noticed` by the host. */
  judge(kernel: Kernel, noticed: Ticks): void {
    const { comm, channel, timerStart, work, phase } = kernel;
    if (timerStart === null) return;
    const stamps = this.stampsOf(comm?.number ?? -1);
    const at = noticed * this.nsPerTick;
    if (phase === null && work !== null) {
      const bound = stamps.least.length < 2 ? Infinity : maxOf(stamps.least.map((one) => aged(one, at)));
      const latest = timerStart + bound + SLACK;
      // One from before the recording is torn, and says nothing of the next.
      if (latest > 0 && latest < work.earliest * this.nsPerTick) stamps.lagging.add(channel);
    }
    kernel.isOfOther = stamps.lagging.has(channel);
    notice(stamps, { offset: at - timerStart, at, work });
  }

  private stampsOf(comm: number): CommStamps {
    let stamps = this.comms.get(comm);
    if (!stamps) this.comms.set(comm, (stamps = { least: [], lagging: new Set() }));
    return stamps;
  }
}

const aged = ({ offset, at }: Notice, now: number): number => offset + MAX_DRIFT * Math.max(0, now - at);

function notice(stamps: CommStamps, one: Notice): void {
  const same = stamps.least.findIndex(({ work }) => work === one.work);
  const others = stamps.least.filter((_, i) => i !== same);
  const own = same < 0 || aged(stamps.least[same]!, one.at) > one.offset ? one : stamps.least[same]!;
  stamps.least = [...others, own].sort((a, b) => aged(a, one.at) - aged(b, one.at)).slice(0, 2);
}
