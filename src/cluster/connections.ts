/**
 * The connections of a run in one table: a row for each channel, direction and file. Whatever asks for bytes, waits or times of transfers
 * reads these rows: slow links, the tables of a report, the causes.
 */

import { hex64 } from '../base/hex.js';
import { countOf, longerThan, quantileOf } from '../base/time_bins.js';
import type { SizeOnTheWay, TransferTimes } from '../clocks/evidence/transfer_times.js';
import { kindOf } from '../runs/communicators.js';
import type { Run, RunMember } from '../runs/run.js';
import type { EndTotals } from '../scan/transfer_totals.js';

/** One end of a connection. Ticks are its file's, at its nominal rate. */
export interface Connection extends Omit<EndTotals, 'comm' | 'drawn' | 'bytes'> {
  /** null: NCCL did not report the sizes of its transfers. */
  readonly bytes: number | null;
  readonly file: number;
  /** File of the other end; null: not here. */
  readonly peerFile: number | null;
  readonly commId: bigint;
  readonly name: string;
  /** Links of the same name are compared: those of a communicator and its sisters. */
  readonly sisters: string;
  /** Ranks of the communicator. */
  readonly source: number;
  readonly destination: number;
  readonly nsPerTick: number;
}

/** The send that was on the wire longest. */
type Longest = 'longest' | 'longestSince' | 'longestStep';

/** How long the sends of one channel took, or the transfers until they arrived. */
export interface ComparedLink extends Omit<TransferTimes, 'sizes'>, Pick<Connection, 'sisters'> {
  readonly isWithinHost: boolean;
  readonly sizes: readonly TimesOfSize[];
}

export interface TimesOfSize extends Omit<SizeOnTheWay, 'sum' | 'least'> {
  /**
   * ns: the mean without the time in which the rank's other sends used the wire (kernel/wire.ts). Not the median, because sends may
   * end together, and then only the first has time of its own.
   */
  readonly ownNs: number;
}

/** Ranks are those of the communicator. `channel` null: all channels together. */
export const linkKey = ({
  commId,
  channel,
  source,
  destination,
}: Pick<Connection, 'commId' | 'source' | 'destination'> & { readonly channel: number | null }): string =>
  `${hex64(commId)} ${channel} ${source} ${destination}`;

/** Sends whose peer is not known (their operation's start is lost) are of no link. */
export const isSender = ({
  isSend,
  peer,
  transfers,
}: Pick<Connection, 'isSend' | 'peer' | 'transfers'>): boolean => isSend && peer >= 0 && transfers > 0;

/** Without those of communicators that NCCL reported no id of. */
export function connections({ members }: Run): Connection[] {
  const files = new Map<string, number>();
  members.forEach(({ scan }, file) => {
    for (const { commId, rank } of scan.communicators) files.set(`${commId} ${rank}`, file);
  });
  const sisters = sisterNames(members.map(({ scan }) => scan.communicators));
  return members.flatMap(({ scan: { transfers, communicators, header } }, file) =>
    transfers.ends.flatMap(({ comm: number, ...end }): Connection[] => {
      const comm = communicators.find((one) => one.number === number);
      if (!comm || comm.commId === 0n) return [];
      const { commId, name, rank } = comm;
      const [source, destination] = end.isSend ? [rank, end.peer] : [end.peer, rank];
      const peerFile = files.get(`${commId} ${end.peer}`) ?? null;
      const about = { file, peerFile, commId, name, sisters: sisters.get(commId)! };
      const bytes = reportsSizes(comm) ? end.bytes : null;
      return [{ ...end, bytes, ...about, source, destination, nsPerTick: 1e9 / header.tickHz }];
    }),
  );
}

/** NCCL's profiler interface reports the size of a transfer since version 4. */
export const reportsSizes = ({ abi }: { readonly abi: number }): boolean => abi >= 4;

export interface TimedLink extends ComparedLink, Pick<Connection, Longest> {
  readonly stops: Stops;
}

/** Sends that were on the wire many times as long as the connection's others: how many, and ns, at least, of all together. */
export interface Stops {
  readonly sends: number;
  readonly ns: number;
}

/** Shorter ones may come from a busy machine. */
const SHORTEST_STOP = 5e7;
export const MUCH_LONGER = 20;

const stopsOf = (sizes: readonly { readonly times: Uint32Array }[], ns: number): Stops =>
  sizes
    .map(({ times }) => longerThan(times, Math.max(SHORTEST_STOP / ns, MUCH_LONGER * quantileOf(times, 0.5))))
    .reduce((all, { count, sum }) => ({ sends: all.sends + count, ns: all.ns + sum * ns }), {
      sends: 0,
      ns: 0,
    });

export const isWithinHost = (
  { file, peerFile }: Pick<ComparedLink, 'file' | 'peerFile'>,
  { members }: Run,
): boolean => members[file]!.scan.header.hostName === members[peerFile]!.scan.header.hostName;

/**
 * How long the sends of each connection were on the wire. Only connections with files of both ends: for others it is not known whether they
 * leave the host.
 */
export const sendTimes = (all: readonly Connection[], run: Run): TimedLink[] =>
  all.flatMap(({ sizes: bySize, nsPerTick: ns, file, peerFile, ...link }) => {
    const sizes = bySize.filter(({ times }) => times.length > 0);
    if (peerFile === null || sizes.length === 0) return [];
    const { commId, sisters, source, destination, channel, longest, longestSince, longestStep } = link;
    return [
      {
        ...{ commId, sisters, file, peerFile, source, destination, channel },
        ...{ longest, longestSince, longestStep },
        isWithinHost: isWithinHost({ file, peerFile }, run),
        stops: stopsOf(sizes, ns),
        sizes: sizes.map(({ bytes, times, own }) => ({
          bytes,
          sends: countOf(times),
          medianNs: quantileOf(times, 0.5) * ns,
          quickNs: quantileOf(times, 0.1) * ns,
          ownNs: (own / countOf(times)) * ns,
        })),
      },
    ];
  });

/**
 * Communicator → a name that it has in common with its sisters: those of the same name and size, none of whose processes is in two of them, as
 * the data-parallel groups of a job. What one of them does, the others do. `files`: the communicators of each file.
 */
function sisterNames(files: readonly RunMember['scan']['communicators'][]): ReadonlyMap<bigint, string> {
  const names = new Map<bigint, string>();
  const mixed = new Set<string>();
  for (const comms of files) {
    const own = new Map<string, bigint>();
    for (const comm of comms) {
      const { commId, nRanks } = comm;
      const common = `${nRanks} ${kindOf(comm)}`;
      if ((own.get(common) ?? commId) !== commId) mixed.add(common);
      own.set(common, commId);
      names.set(commId, common);
    }
  }
  return new Map([...names].map(([commId, name]) => [commId, mixed.has(name) ? `${commId}` : name]));
}
