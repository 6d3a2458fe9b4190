/** What live/otlp.ts uses of OpenTelemetry: 800 kB, bundled apart (scripts/bundle.mjs), so that only a push loads it. */

export { ValueType, type Attributes, type HrTime } from '@opentelemetry/api';
export { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
export { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
export { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
