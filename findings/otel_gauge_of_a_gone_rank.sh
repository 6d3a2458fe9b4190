#!/usr/bin/env bash
# Expected: an observable gauge has a point for what its callback observed in this collection, and for nothing else.
# Happens: with cumulative temporality (the default of the OTLP exporters) a rank that is no longer observed is
#   exported for ever, with its last value and a fresh end time. With delta temporality it is gone at once.
# Versions: @opentelemetry/sdk-metrics 2.12.0.
# Output seen: below, after SEEN: rank 1 was observed in the first collection only.
# Why it matters: "alive 1" and "in flight 3" of a rank that died keep arriving with the time of now, so an alert on
#   absence or age never fires. Observe the last state (0) explicitly, or export MetricData of your own.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  @opentelemetry/sdk-metrics@2.12.0 @opentelemetry/api@1.9.1 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { setTimeout } from 'node:timers/promises';
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

class Reader extends MetricReader {
  onForceFlush = async () => {};
  onShutdown = async () => {};
}
const seconds = ([whole, nanoseconds]) => whole + nanoseconds / 1e9;

for (const temporality of ['CUMULATIVE', 'DELTA']) {
  const reader = new Reader({ aggregationTemporalitySelector: () => AggregationTemporality[temporality] });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('ranks');
  let ranks = [0, 1];
  let inFlight = 3;
  const gauge = meter.createObservableGauge('in_flight');
  gauge.addCallback((result) => ranks.forEach((rank) => result.observe(inFlight, { rank })));

  for (const what of ['both ranks', 'rank 0 alone', 'rank 0 alone']) {
    const before = Date.now() / 1000;
    const { resourceMetrics } = await reader.collect();
    const points = resourceMetrics.scopeMetrics[0].metrics[0].dataPoints.map(
      ({ attributes: { rank }, value, endTime }) =>
        `rank ${rank}: ${value} (${seconds(endTime) >= before - 0.001 ? 'now' : 'earlier'})`,
    );
    console.log(`${temporality}, observed ${what}:`, points.join(', '));
    ranks = [0];
    inFlight = 0;
    await setTimeout(50);
  }
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
CUMULATIVE, observed both ranks: rank 0: 3 (now), rank 1: 3 (now)
CUMULATIVE, observed rank 0 alone: rank 0: 0 (now), rank 1: 3 (now)
CUMULATIVE, observed rank 0 alone: rank 0: 0 (now), rank 1: 3 (now)
DELTA, observed both ranks: rank 0: 3 (now), rank 1: 3 (now)
DELTA, observed rank 0 alone: rank 0: 0 (now)
DELTA, observed rank 0 alone: rank 0: 0 (now)
SEEN
