#!/usr/bin/env bash
# Expected: `v > 2 * median` finds the one of two links that takes a thousand times as long.
# Happens: it never does. quantile(0.5) of two series is their mean, and neither of two positive numbers is more than
#   twice their mean. With three series it fires. quantile interpolates between series; there is no "lower median".
# Versions: Debian prometheus 2.42.0 (promtool).
# Output seen: below, after SEEN.
# Why it matters: the commonest job has two nodes, so two links between them: an alert on "twice the median" is silent
#   there for ever, whatever happens. Compare with the best: v > 2 * min(v).
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(dpkg-query -W -f '${Version}' prometheus 2>/dev/null || true)
if [[ $version != 2.42.0* ]]; then
  echo "needs prometheus 2.42.0 (Debian 12: apt-get install prometheus), found ${version:-none}" >&2
  exit 1
fi

# Whether promtool gets `samples` from the expression over these series.
try() {
  local what=$1 series=$2 expression=$3 samples=$4
  printf '%s\n' 'tests:' '- interval: 1m' '  input_series:' "$series" '  promql_expr_test:' \
    "  - {expr: '$expression', eval_time: 1m, exp_samples: [$samples]}" >"$dir/$what.yml"
  promtool test rules "$dir/$what.yml" >"$dir/out" 2>&1 && echo "$what: $expression: ${samples:-nothing}" || cat "$dir/out"
}
two="  - {series: 'seconds{link=\"a\"}', values: '1000x2'}
  - {series: 'seconds{link=\"b\"}', values: '1x2'}"
three="$two
  - {series: 'seconds{link=\"c\"}', values: '1x2'}"
slow="{labels: 'seconds{link=\"a\"}', value: 1000}"
{
  try two "$two" 'quantile(0.5, seconds)' "{labels: '{}', value: 500.5}"
  try two "$two" 'seconds > 2 * scalar(quantile(0.5, seconds))' ''
  try two "$two" 'seconds > 2 * scalar(min(seconds))' "$slow"
  try three "$three" 'seconds > 2 * scalar(quantile(0.5, seconds))' "$slow"
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
two: quantile(0.5, seconds): {labels: '{}', value: 500.5}
two: seconds > 2 * scalar(quantile(0.5, seconds)): nothing
two: seconds > 2 * scalar(min(seconds)): {labels: 'seconds{link="a"}', value: 1000}
three: seconds > 2 * scalar(quantile(0.5, seconds)): {labels: 'seconds{link="a"}', value: 1000}
SEEN
