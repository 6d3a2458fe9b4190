/**
 * Counts the drawing of connections on which nothing has moved so far, for one communicator. If they stay endless (model/endless_ops.ts),
 * their operations are instants on one track. Otherwise their operations are in lanes, like all others.
 */

import type { Ticks } from '../base/time.js';
import { connectionKey, DEEPEST_QUEUE, mayBeEndless } from '../model/endless_ops.js';
import type { Op } from '../model/types.js';
import { TimeCounter, type TimeCounts } from './time_counts.js';

interface Quiet {
  /** The connection's `connectionKey`. */
  readonly key: string;
  /** "channel peer". Collectives and sends/receives between the same two ranks share this track. */
  readonly track: string;
  readonly waiting: Op[];
  readonly starts: TimeCounter;
}

export interface QuietCounts {
  /** Number of operations drawn as instants. */
  readonly instants: TimeCounts;
  readonly instantTracks: number;
  /** Operations of other connections that are open to the end. */
  readonly waiting: readonly Op[];
}

export class QuietConnections {
  /** null: an operation has moved there. */
  private readonly connections = new Map<number, Quiet | null>();

  /** Whether its connection is quiet. If not, the operation is in a lane. */
  started(op: Op, at: Ticks): boolean {
    if (!mayBeEndless(op)) return false;
    const number = numberOf(op);
    let quiet = this.connections.get(number);
    if (quiet === null) return false;
    if (!quiet) {
      const track = `${op.channel} ${op.peer}`;
      quiet = { key: connectionKey(op), track, waiting: [], starts: new TimeCounter() };
      this.connections.set(number, quiet);
    }
    quiet.starts.add(at);
    if (quiet.waiting.length < DEEPEST_QUEUE) quiet.waiting.push(op);
    return true;
  }

  /** The connection has moved. Returns its operations, oldest first, because they are in lanes now. */
  alive(op: Op): readonly Op[] {
    if (!mayBeEndless(op)) return [];
    const number = numberOf(op);
    const quiet = this.connections.get(number);
    if (!quiet) return [];
    this.connections.set(number, null);
    return quiet.waiting;
  }

  /** `endless`: connections, as `connectionKey`. */
  finish(endless: ReadonlySet<string>): QuietCounts {
    const quiet = [...this.connections.values()].filter((one) => one !== null);
    const drawnAsInstants = quiet.filter(({ key }) => endless.has(key));
    const instants = new TimeCounter();
    const counts = drawnAsInstants.map(({ starts }) => starts.finish());
    for (const one of counts.sort((a, b) => a.first - b.first)) instants.addAll(one);
    return {
      instants: instants.finish(),
      instantTracks: new Set(drawnAsInstants.map(({ track }) => track)).size,
      waiting: quiet.filter(({ key }) => !endless.has(key)).flatMap(({ waiting }) => waiting),
    };
  }
}

/** By peer, channel and kind of work: looked up for every receive. */
function numberOf({ peer, channel, of }: Op): number {
  const kind = of === null ? 2 : Number(of.kind === 'P2p');
  return ((peer & 0x3fffff) * 256 + (channel & 0xff)) * 3 + kind;
}
