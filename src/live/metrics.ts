/**
 * What is known of a running job, as metrics in the text format of Prometheus or OpenMetrics. schemas/metrics.md has one row for each. A
 * text is made of the newest state alone, so series of a run that is over do not stay.
 */

import { entryOf } from '../base/grouped.js';
import { Registry, type Gauge } from 'prom-client';
import { maxOf } from '../base/extremes.js';
import { foldRanks } from '../base/ranks.js';
import { allRanks } from '../report/verdict_phrases.js';
import { printable } from '../report/text.js';
import { suspectComm, suspects } from '../verdict/facts/suspects.js';
import { whoOf } from '../verdict/finding.js';
import { isAway } from './alarm.js';
import type { SeenJob } from './seen_job.js';
import { LIMITS, MEASURED, type Link, type Measured, type Tally, type WorkTotals } from './work.js';

export interface LiveState extends Pick<SeenJob, 'sight' | 'looks' | 'work'> {
  readonly look: Omit<NonNullable<SeenJob['look']>, 'began'> | null;
  /** `movedAt` of members → s since the Unix epoch. */
  readonly wall: (ms: number) => number;
}

export const OPEN_METRICS = Registry.OPENMETRICS_CONTENT_TYPE;
export const PROMETHEUS = Registry.PROMETHEUS_CONTENT_TYPE;
type ContentType = typeof OPEN_METRICS | typeof PROMETHEUS;

export type Labels = Readonly<Record<string, string>>;

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly series: {
    readonly labels: Labels;
    readonly value: number | (Tally & { limits: readonly number[] });
  }[];
}

export function metricsOf(state: LiveState): Family[] {
  const { run, id } = state.sight;
  const made = new Made(id || run);
  jobMetrics(state, made);
  processMetrics(state, made);
  if (state.look !== null) recordMetrics(state.look, made);
  workMetrics(state.work, made);
  return [...made.families.values()];
}

export function metricsText(families: readonly Family[], type: ContentType): Promise<string> {
  const registry = new Registry<ContentType>();
  registry.setContentType(type);
  for (const family of families) registry.registerMetric(asMetric(family));
  return registry.metrics();
}

/** The client library asks a metric for its series. It has no other way to take a histogram that is counted already. */
function asMetric({ name, help, type, series }: Family): Gauge {
  const metric = {
    ...{ name, help, type, aggregator: 'sum' as const },
    get: () => Promise.resolve({ ...metric, values: series.flatMap((one) => valuesOf(name, one)) }),
  };
  return metric as unknown as Gauge;
}

function valuesOf(name: string, { labels, value }: Family['series'][number]) {
  if (typeof value === 'number') return [{ labels, value }];
  let count = 0;
  const buckets = value.counts.map((more, i) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le: String(value.limits[i] ?? '+Inf') },
    value: (count += more),
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: value.sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/**
 * Metrics are made when they have their first series, so an empty one is not there. All series have the run: on one Prometheus there are
 * several jobs, each with a rank 0. Names come from files, so a terminal must not obey them.
 */
class Made {
  readonly families = new Map<string, Family>();

  constructor(private readonly run: string | null) {}

  gauge(name: string, help: string, labels: Labels, value: number): void {
    this.add(this.family(name, help, 'gauge'), labels, value);
  }

  counter(name: string, help: string, labels: Labels, value: number): void {
    this.add(this.family(name, help, 'counter'), labels, value);
  }

  histogram(name: string, help: string, labels: Labels, tally: Tally, limits: readonly number[]): void {
    this.add(this.family(name, help, 'histogram'), labels, { ...tally, limits });
  }

  private add({ series }: Family, labels: Labels, value: Family['series'][number]['value']): void {
    const all = Object.entries(this.run === null ? labels : { run: this.run, ...labels });
    series.push({ labels: Object.fromEntries(all.map(([name, text]) => [name, printable(text)])), value });
  }

  private family(name: string, help: string, type: Family['type']): Family {
    return entryOf(this.families, name, () => ({ name: `nccl_trace_${name}`, help, type, series: [] }));
  }
}

function jobMetrics({ sight, looks, look }: LiveState, made: Made): void {
  const { run, members } = sight;
  if (run !== null) made.gauge('run_info', 'The run that is followed.', { name: run }, 1);
  made.gauge('processes', 'Rank files of the run here.', {}, members.length);
  made.counter('looks_total', 'Looks at the records.', {}, looks.count);
  made.counter('look_cpu_seconds_total', 'CPU time of the looks at the records.', {}, looks.cpuSeconds);
  if (look === null) return;
  const { found, at } = look;
  made.gauge('look_timestamp_seconds', 'When the records were last looked at.', {}, at);
  if (found.worldSize > 0) made.gauge('world_size', 'Ranks of the run, here or not.', {}, found.worldSize);
  verdictMetrics(look, made);
}

/** Other nodes may have the culprit. Then all ranks here are its victims. */
function verdictMetrics({ found, progress }: NonNullable<LiveState['look']>, made: Made): void {
  const { verdict, ranks } = found;
  const comm = suspectComm(verdict)?.commId ?? '';
  const name = progress.find((one) => one.comm === comm)?.commName ?? '';
  const culprits = isAway(found) ? [] : whoOf(verdict).files;
  const accused = suspects(verdict).map((file) => ({
    rank: foldRanks(allRanks(ranks[file]!)),
    role: culprits.includes(file) ? 'culprit' : 'victim',
  }));
  for (const { rank, role } of accused.length === 0 ? [{ rank: '', role: '' }] : accused)
    made.gauge(
      'verdict',
      'The verdict of inspect, one series per suspect.',
      { kind: verdict.kind, role, rank, comm, name },
      1,
    );
}

function processMetrics({ sight, look, wall }: LiveState, made: Made): void {
  const byFile = new Map(look?.found.ranks.map((rank) => [rank.file, knownRanks(rank)]));
  for (const { path, header, process, movedAt, hasMoved, livedAt, slots } of sight.members) {
    const ranks = byFile.get(path) ?? knownRanks(header);
    const rank = ranks.length === 0 ? `pid ${header.process.pid}` : foldRanks(ranks);
    if (ranks.length > 0) made.gauge('process_ranks', 'Ranks of a process.', { rank }, ranks.length);
    const { hostName: host, localRank, gpu } = header;
    const local = localRank === null ? '' : String(localRank);
    made.gauge('rank_info', 'Where a rank runs.', { rank, host, local_rank: local, gpu }, 1);
    const state = header.life === 'closed' ? 'ended' : process;
    made.gauge('process_state', 'What the process of a rank does.', { rank, state }, 1);
    made.gauge(
      'heartbeat_timestamp_seconds',
      'The newest heartbeat of the recorder that was seen.',
      { rank },
      wall(livedAt),
    );
    const records =
      look?.progress.flatMap((one) => (one.rank === rank ? (one.lastProgress ?? []) : [])) ?? [];
    const last = hasMoved ? wall(movedAt) : maxOf(records);
    if (last > 0)
      made.gauge('last_record_timestamp_seconds', 'When anything was last recorded.', { rank }, last);
    made.counter('recorded_slots_total', 'Slots of the rings that were handed out.', { rank }, slots);
    const errors = {
      io: header.ioErrors,
      communicators: header.communicatorsLost,
      strings: header.stringsLost,
      leases: header.leasesLost,
      threads: header.threadsOverflowed,
    };
    for (const [kind, count] of Object.entries(errors))
      made.counter(
        'recorder_errors_total',
        'What the recorder could not write, by kind.',
        { rank, kind },
        count,
      );
  }
}

const knownRanks = (one: Parameters<typeof allRanks>[0]): number[] =>
  allRanks(one).filter((rank) => rank !== null);

function recordMetrics({ found, progress }: NonNullable<LiveState['look']>, made: Made): void {
  for (const { lost, ...rank } of found.ranks.filter((one) => knownRanks(one).length > 0))
    for (const [cause, slots] of Object.entries(lost))
      made.gauge(
        'lost_slots',
        'Slots that are missing in the file, by cause.',
        { rank: foldRanks(allRanks(rank)), cause },
        slots,
      );
  const named = new Set<string>();
  for (const { rank, comm, commName: name, nRanks, functions, lastProgress, open, oldestOpen } of progress) {
    if (!named.has(comm))
      made.gauge('comm_info', 'A communicator.', { comm, name, ranks: String(nRanks) }, 1);
    named.add(comm);
    const labels = { rank, comm };
    for (const { func, entered, finished } of functions) {
      const of = { ...labels, function: func };
      made.gauge('collective_entered', 'Number of the collective last entered.', of, entered);
      if (finished !== null)
        made.gauge(
          'collective_finished',
          'Number of the collective last known to be finished.',
          of,
          finished,
        );
    }
    made.gauge('open_operations', 'Collectives, sends and receives without an end.', labels, open);
    if (oldestOpen !== null)
      made.gauge(
        'oldest_open_timestamp_seconds',
        'When the oldest open operation began.',
        labels,
        oldestOpen,
      );
    if (lastProgress !== null)
      made.gauge(
        'comm_progress_timestamp_seconds',
        'When anything last began or ended.',
        labels,
        lastProgress,
      );
  }
}

const MEASURES: Readonly<Record<Measured, readonly [name: string, help: string]>> = {
  duration: ['collective_duration_seconds', 'From the first arrival to the last end.'],
  skew: ['collective_skew_seconds', 'From the first to the last arrival.'],
  algbw: ['collective_algbw_bytes_per_second', 'Algorithm bandwidth, as nccl-tests counts it.'],
  busbw: ['collective_busbw_bytes_per_second', 'Bus bandwidth, as nccl-tests counts it.'],
};

function workMetrics({ groups, functions, seen }: WorkTotals, made: Made): void {
  for (const { comm, func, sizeClass, outcomes, bytes, tallies } of groups) {
    const labels = { comm, function: func, size_class: sizeClass === null ? '' : String(sizeClass) };
    for (const [outcome, count] of Object.entries(outcomes))
      made.counter('collectives_total', 'Collectives that are over.', { ...labels, outcome }, count);
    if (sizeClass !== null)
      made.counter('collective_bytes_total', 'Their size, as nccl-tests counts it.', labels, bytes);
    for (const one of MEASURED)
      if (tallies[one].counts.some((count) => count > 0))
        made.histogram(...MEASURES[one], labels, tallies[one], LIMITS[one]);
  }
  for (const { comm, func, unseen, named, last } of functions) {
    const labels = { comm, function: func };
    made.counter('collectives_unseen_total', 'Collectives that no look saw.', labels, unseen);
    made.counter('collectives_with_last_rank_total', 'Collectives whose last rank is known.', labels, named);
    for (const [rank, times] of Object.entries(last))
      made.counter(
        'collectives_last_total',
        'Collectives to which a rank came last.',
        { ...labels, rank },
        times,
      );
  }
  for (const { rank, window, transfers, sent, waits, functions } of seen.ranks) {
    made.gauge('transfers', 'Transfers that the last look saw.', { rank }, transfers);
    if (window > 0) made.gauge('transfers_window_seconds', 'The time in which these are.', { rank }, window);
    if (sent !== null)
      made.gauge('sent_bytes_per_second', 'What a rank sent since the look before.', { rank }, sent);
    for (const { func, kind, seconds } of waits)
      made.gauge('wait_seconds', 'What these waited for.', { rank, function: func, kind }, seconds);
    for (const { func, transfers: sends, bytes, mean } of functions) {
      const of = { rank, function: func };
      made.gauge('function_transfers', 'Sends that the last look saw.', of, sends);
      if (bytes !== null) made.gauge('function_bytes', 'Their bytes.', of, bytes);
      if (mean !== null) made.gauge('function_transfer_seconds', 'Their mean time.', of, mean);
    }
  }
  for (const link of seen.pairs) linkMetrics('pair', link, made);
  for (const link of seen.channels) linkMetrics('channel', link, made);
  for (const { comm, func, rank, peer, operations, bytes, tookNs, timed } of seen.p2p) {
    const labels = { comm, function: func, rank, peer };
    made.gauge('p2p_operations', 'Sends and receives that the last look saw.', labels, operations);
    made.gauge('p2p_bytes', 'Their bytes.', labels, bytes);
    if (timed > 0) made.gauge('p2p_duration_seconds', 'Their mean time.', labels, tookNs / timed / 1e9);
  }
}

function linkMetrics(of: 'pair' | 'channel', link: Link, made: Made): void {
  const { comm, channel, source, destination, transfers, bytes, meanNs, average, least } = link;
  const labels = { comm, source, destination, ...(channel === null ? {} : { channel: String(channel) }) };
  made.gauge(`${of}_transfers`, 'Transfers that the last look saw.', labels, transfers);
  if (bytes !== null) made.gauge(`${of}_bytes`, 'Their bytes.', labels, bytes);
  if (meanNs !== null)
    made.gauge(`${of}_transfer_seconds`, 'Their mean time, at the sender.', labels, meanNs / 1e9);
  for (const [fit, line] of Object.entries({ average, least })) {
    if (line === null) continue;
    const fitted = { ...labels, fit };
    made.gauge(`${of}_latency_seconds`, 'Time of a transfer without bytes.', fitted, line.latencyNs / 1e9);
    if (line.rateGBs !== null)
      made.gauge(
        `${of}_rate_bytes_per_second`,
        'Bytes by the time that they add.',
        fitted,
        line.rateGBs * 1e9,
      );
    made.gauge(`${of}_fit_r2`, 'Part of the variance that the line explains.', fitted, line.r2);
  }
}
