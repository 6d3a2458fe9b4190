#!/usr/bin/env bash
# Expected: a metric has one name, whatever format a scraper asks for; and promtool's check likes what is correct.
# Happens: a counter `nccl_bytes` is the series nccl_bytes in the text format and nccl_bytes_total in OpenMetrics.
#   Prometheus asks for OpenMetrics first, curl and many agents get the text: the same process under two names. `promtool
#   check metrics` calls the correct OpenMetrics text an error ("no help text"), because it reads the older format.
# Versions: prom-client 15.1.3, Debian prometheus 2.42.0 (promtool).
# Output seen: below, after SEEN.
# Why it matters: an alert written after a look with curl never fires. Give counters the ending _total yourself.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(dpkg-query -W -f '${Version}' prometheus 2>/dev/null || true)
if [[ $version != 2.42.0* ]]; then
  echo "needs prometheus 2.42.0 (Debian 12: apt-get install prometheus), found ${version:-none}" >&2
  exit 1
fi
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent prom-client@15.1.3 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { Counter, Registry } from 'prom-client';
const { PROMETHEUS_CONTENT_TYPE, OPENMETRICS_CONTENT_TYPE } = Registry;
const registry = new Registry(process.argv[2] === 'text' ? PROMETHEUS_CONTENT_TYPE : OPENMETRICS_CONTENT_TYPE);
for (const name of ['nccl_bytes', 'nccl_calls_total'])
  new Counter({ name, help: 'As counted.', registers: [registry] }).inc(5);
process.stdout.write(await registry.metrics());
JS
for format in text openmetrics; do
  node "$dir/try.mjs" "$format" >"$dir/metrics"
  echo "$format: $(grep -v '^#' "$dir/metrics" | grep . | paste -sd' ')"
  { promtool check metrics <"$dir/metrics" 2>&1 || true; } | sed 's/^/  promtool: /'
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
text: nccl_bytes 5 nccl_calls_total 5
  promtool: nccl_bytes counter metrics should have "_total" suffix
openmetrics: nccl_bytes_total 5 nccl_calls_total 5
  promtool: nccl_bytes_total no help text
  promtool: nccl_calls_total no help text
SEEN
