/**
 * Pushes the metrics to an OpenTelemetry collector, by the official exporter. Each push has the sums since the start, so a push that fails
 * loses nothing: the next one has it. The exporter waits and tries again by itself, as the server asks for.
 */

import { hostname } from 'node:os';
import { foldRanks } from '../base/ranks.js';
import { reason } from '../base/reason.js';
import {
  AggregationTemporality,
  type Attributes,
  DataPointType,
  detectResources,
  envDetector,
  type HrTime,
  type MetricData,
  OTLPMetricExporter,
  resourceFromAttributes,
  ValueType,
} from './opentelemetry.js';
import { metricsOf, type Family, type LiveState } from './metrics.js';
import { Answers, refusalIn, type Refusal } from './otlp_answer.js';

/** ms: for one push with all its tries. */
const PUSH_AT_MOST = 60_000;

export class OtlpPush {
  private readonly exporter: OTLPMetricExporter;
  private readonly answers: Answers;
  private isUnderWay = false;
  private refused = { points: 0, since: Date.now() };
  /** The run and the time from which its counters count. */
  private since: { readonly run: string | null; readonly at: number } | null = null;

  /** `url`: of a collector, or of its path for metrics. `onDone`: null: all of its points were taken. */
  constructor(
    url: URL,
    private readonly environment: Readonly<Record<string, string | undefined>>,
    private readonly onDone: (refusal: Refusal | null, points: number) => void,
  ) {
    const path = url.pathname === '/' ? '/v1/metrics' : url.pathname;
    this.answers = new Answers(url.host);
    this.exporter = new OTLPMetricExporter({ url: new URL(path, url).href, timeoutMillis: PUSH_AT_MOST });
  }

  /** Does nothing while the last push is under way: the next one has newer values. */
  push(state: LiveState): void {
    const { run } = state.sight;
    if (this.since?.run !== run) this.since = { run, at: Date.now() };
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    const times = { startTime: hrTime(this.since.at), endTime: hrTime(Date.now()) };
    const metrics = metricsOf(state).map((family) => metricData(family, times));
    const ever = { startTime: hrTime(this.refused.since), endTime: times.endTime };
    metrics.push(metricData(refusedSoFar(this.refused.points), ever));
    const resource = resourceFromAttributes(attributesOf(state, this.environment)).merge(
      detectResources({ detectors: [envDetector] }),
    );
    const points = metrics.reduce((sum, { dataPoints }) => sum + dataPoints.length, 0);
    this.exporter.export(
      { resource, scopeMetrics: [{ scope: { name: 'nccl-trace' }, metrics }] },
      ({ error }) => {
        this.isUnderWay = false;
        const { last } = this.answers;
        const refusal = last === null ? null : refusalIn(last);
        const whole = error === undefined ? null : { points: null, why: reason(error) };
        const found = refusal ?? whole;
        this.refused.points += found === null ? 0 : (found.points ?? points);
        this.onDone(found, points);
      },
    );
  }

  close(): Promise<void> {
    this.answers.close();
    return this.exporter.shutdown();
  }
}

/** Variables of the environment that say where the exporter runs. OTEL_RESOURCE_ATTRIBUTES has more, and wins. */
const FROM_ENVIRONMENT: Readonly<Record<string, string>> = {
  'slurm.job.id': 'SLURM_JOB_ID',
  'k8s.pod.name': 'POD_NAME',
  'k8s.namespace.name': 'POD_NAMESPACE',
};

function attributesOf(
  { sight }: LiveState,
  environment: Readonly<Record<string, string | undefined>>,
): Attributes {
  const ranks = sight.members.flatMap(({ header }) => header.rank ?? []);
  const known = Object.entries(FROM_ENVIRONMENT).map(([name, variable]) => [
    name,
    environment[variable] ?? '',
  ]);
  const attributes = {
    'service.name': 'nccl-trace',
    'service.instance.id': hostname(),
    'host.name': hostname(),
    'nccl_trace.run': sight.run ?? '',
    'nccl_trace.ranks': ranks.length === 0 ? '' : foldRanks(ranks),
    ...(Object.fromEntries(known) as Record<string, string>),
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== ''));
}

/** Only a collector can be told of it: the text has no such metric. */
const refusedSoFar = (value: number): Family => ({
  name: 'nccl_trace_otlp_refused_points_total',
  help: 'Points of pushes that the collector did not take.',
  type: 'counter',
  series: [{ labels: {}, value }],
});

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1e6];

const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_bytes_per_second$/, 'By/s'],
  [/_seconds(_total)?$/, 's'],
  [/_bytes(_total)?$/, 'By'],
];

function metricData(
  { name, help: description, type, series }: Family,
  times: { readonly startTime: HrTime; readonly endTime: HrTime },
): MetricData {
  const unit = UNITS.find(([ending]) => ending.test(name))?.[1] ?? '1';
  const common = {
    descriptor: { name, description, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = series.flatMap(({ labels: attributes, value }) =>
    typeof value === 'number' ? [{ ...times, attributes, value }] : [],
  );
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points };
  if (type === 'counter')
    return { ...common, dataPointType: DataPointType.SUM, dataPoints: points, isMonotonic: true };
  const dataPoints = series.flatMap(({ labels: attributes, value }) => {
    if (typeof value === 'number') return [];
    const { counts, sum, limits: boundaries } = value;
    const buckets = { boundaries: [...boundaries], counts: [...counts] };
    const count = counts.reduce((all, more) => all + more, 0);
    return [{ ...times, attributes, value: { buckets, sum, count } }];
  });
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}
