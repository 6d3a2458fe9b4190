/**
 * What is known of a running job, as metrics in the text format of Prometheus or OpenMetrics. schemas/metrics.md has one row for each. A
 * text is made of the newest state alone, so series of a run that is over do not stay.
 */

import { Counter, Gauge, Registry } from 'prom-client';
import { maxOf } from '../base/extremes.js';
import { foldRanks } from '../base/ranks.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { allRanks } from '../report/verdict_phrases.js';
import { suspectComm, suspects } from '../verdict/evidence/suspects.js';
import type { Sight } from './follow.js';
import type { RankProgress } from './rank_progress.js';

export interface LiveState {
  readonly sight: Sight;
  /** null: there was no look at the records of this run yet. */
  readonly look: {
    readonly found: Diagnosis;
    readonly progress: readonly RankProgress[];
    /** s since the Unix epoch. */
    readonly at: number;
  } | null;
  /** Of all looks so far. */
  readonly looks: { readonly count: number; readonly cpuSeconds: number };
  /** `movedAt` of members → s since the Unix epoch. */
  readonly wall: (ms: number) => number;
}

export const OPEN_METRICS = Registry.OPENMETRICS_CONTENT_TYPE;
export const PROMETHEUS = Registry.PROMETHEUS_CONTENT_TYPE;
type ContentType = typeof OPEN_METRICS | typeof PROMETHEUS;

export function metricsText(state: LiveState, type: ContentType): Promise<string> {
  const registry = new Registry<ContentType>();
  registry.setContentType(type);
  const made = new Made(registry);
  jobMetrics(state, made);
  processMetrics(state, made);
  if (state.look !== null) recordMetrics(state.look, made);
  return registry.metrics();
}

type Labels = Readonly<Record<string, string>>;

/** Metrics are made when they have their first series, so an empty one is not there. */
class Made {
  private readonly gauges = new Map<string, Gauge>();
  private readonly counters = new Map<string, Counter>();

  constructor(private readonly registry: Registry<ContentType>) {}

  gauge(name: string, help: string, labels: Labels, value: number): void {
    const gauge = this.gauges.get(name) ?? new Gauge(this.about(name, help, labels));
    this.gauges.set(name, gauge);
    gauge.set(labels, value);
  }

  counter(name: string, help: string, labels: Labels, value: number): void {
    const counter = this.counters.get(name) ?? new Counter(this.about(name, help, labels));
    this.counters.set(name, counter);
    counter.inc(labels, value);
  }

  private about(name: string, help: string, labels: Labels) {
    return { name: `nccl_trace_${name}`, help, labelNames: Object.keys(labels), registers: [this.registry] };
  }
}

function jobMetrics({ sight, looks, look }: LiveState, made: Made): void {
  const { run, members } = sight;
  if (run !== null) made.gauge('run_info', 'The run that is followed.', { run }, 1);
  made.gauge('processes', 'Rank files of the run here.', {}, members.length);
  made.counter('looks_total', 'Looks at the records.', {}, looks.count);
  made.counter('look_cpu_seconds_total', 'CPU time of the looks at the records.', {}, looks.cpuSeconds);
  if (look === null) return;
  const { found, at } = look;
  made.gauge('look_timestamp_seconds', 'When the records were last looked at.', {}, at);
  made.gauge('missing_ranks', 'Ranks of the run without a file here.', {}, found.missingRanks.length);
  const { verdict, ranks } = found;
  const comm = suspectComm(verdict)?.commId ?? '';
  const accused = suspects(verdict).map((file) => foldRanks(allRanks(ranks[file]!)));
  for (const rank of accused.length === 0 ? [''] : accused)
    made.gauge(
      'verdict',
      'The verdict of inspect, one series per suspect.',
      { kind: verdict.kind, rank, comm },
      1,
    );
}

function processMetrics({ sight, look, wall }: LiveState, made: Made): void {
  const byFile = new Map(look?.found.ranks.map((rank) => [rank.file, foldRanks(allRanks(rank))]));
  for (const { path, header, process, movedAt, hasMoved, livedAt, slots } of sight.members) {
    const rank =
      byFile.get(path) ?? (header.rank === null ? `pid ${header.process.pid}` : String(header.rank));
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

function recordMetrics({ found, progress }: NonNullable<LiveState['look']>, made: Made): void {
  for (const { lost, ...rank } of found.ranks)
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
