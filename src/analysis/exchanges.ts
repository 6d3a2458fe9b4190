/** AlltoAlls as rows of tables: what each pair of ranks exchanged, and each AlltoAll once for all its ranks. */

import { hex64 } from '../base/hex.js';
import {
  type CommExchanges,
  type Exchange,
  type ExchangePart,
  lastOf,
  runExchanges,
} from '../cluster/exchanges.js';
import type { Study } from '../study/study.js';
import { type RankLabel, type RankLabels, rankLabels } from '../runs/rank_labels.js';

/** What one rank sent to another, in all AlltoAlls of a communicator. */
export interface ExchangeRow {
  readonly comm: string;
  readonly commId: string;
  readonly source: RankLabel;
  readonly destination: RankLabel;
  readonly sends: number;
  readonly bytes: number;
}

export interface AllToAllRow extends Omit<Exchange, 'parts' | 'start' | 'most'> {
  readonly comm: string;
  readonly commId: string;
  readonly commSize: number;
  /** ns of the trace: the first rank's call. */
  readonly startNs: number;
  /** To the end of the last rank; null: a rank has not ended or was aborted, or its end is not known. */
  readonly durationNs: number | null;
  readonly mostRank: RankLabel;
  /** The rank whose end was the last, and how long after the one before it. null: as the duration. */
  readonly lastRank: RankLabel;
  readonly lastByNs: number | null;
  /** It is the rank with the most bytes, which are at least twice the others'. null: as the duration. */
  readonly isLastByBytes: boolean | null;
}

type Joined = Pick<Study, 'run' | 'clocks' | 'ends' | 'gpuLines'>;

const exchangesOf = ({ run, clocks, ends, gpuLines }: Joined): CommExchanges[] =>
  runExchanges(run, clocks.solution, ends, gpuLines);

export const exchangeRows = (studied: Joined): ExchangeRow[] => {
  const labels = rankLabels(studied.run);
  return exchangesOf(studied).flatMap(({ commId, name, pairs }) =>
    pairs.map(({ source, file, destination, sends, bytes }) => ({
      ...{ comm: name, commId: hex64(commId), sends, bytes },
      source: labels.inComm(commId, source, file),
      destination: labels.inComm(commId, destination, null),
    })),
  );
};

export const allToAllRows = (studied: Joined): AllToAllRow[] => {
  const labels = rankLabels(studied.run);
  return exchangesOf(studied).flatMap((comm) => comm.exchanges.map((one) => rowOf(comm, one, labels)));
};

function rowOf({ commId, name, size }: CommExchanges, exchange: Exchange, labels: RankLabels): AllToAllRow {
  const { call, start, bytes, most, mostWay, mostBytes, usualBytes } = exchange;
  const label = ({ rank, file }: ExchangePart): RankLabel => labels.inComm(commId, rank, file);
  const startNs = Math.round(start);
  const found = lastOf(exchange, size);
  return {
    ...{ comm: name, commId: hex64(commId), commSize: size, call, bytes, mostWay, mostBytes, usualBytes },
    ...{ startNs, mostRank: label(most) },
    durationNs: found && Math.round(found.last.end) - startNs,
    lastRank: found && label(found.last),
    lastByNs: found && Math.round(found.by),
    isLastByBytes: found?.isByBytes ?? null,
  };
}
