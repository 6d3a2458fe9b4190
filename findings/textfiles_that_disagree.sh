#!/usr/bin/env bash
# Expected: if two files of node_exporter's textfile collector cannot be joined, node_textfile_scrape_error is 1.
# Happens: what comes second is left out, and that is all. With another help text, another type, or the same series in both files, the
#   answer has status 200, node_textfile_scrape_error 0, collector_success 1, and both files as read. The log has an error, and
#   promhttp_metric_handler_errors_total{cause="gathering"} has it, one scrape later.
# Versions: Debian prometheus-node-exporter 1.5.0-1+b6.
# Output seen: below, after SEEN.
# Why it matters: two versions of one exporter on a node, with one help text changed, and the metrics of one of two jobs are gone; an
#   alert on node_textfile_scrape_error stays silent. Alert on an increase of promhttp_metric_handler_errors_total.
# Needs: curl.
set -euo pipefail
version=$(prometheus-node-exporter --version 2>&1 | head -n 1 || true)
if [[ $version != *'version 1.5.0'* ]]; then
  echo "needs prometheus-node-exporter 1.5.0 (Debian 12: apt-get install prometheus-node-exporter), found ${version:-none}" >&2
  exit 1
fi
dir=$(mktemp -d)
mkdir "$dir/files"
prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$dir/files" \
  --web.listen-address=127.0.0.1:19100 2>"$dir/log" &
exporter=$!
trap 'kill $exporter; rm -rf "$dir"' EXIT

try() {
  printf '# HELP busy Busy ranks.\n# TYPE busy gauge\nbusy{job="a"} 1\n' >"$dir/files/a.prom"
  printf "$2" >"$dir/files/b.prom"
  for time in once again; do
    curl -fsS --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:19100/metrics >"$dir/$time"
  done
  echo "$1: $(grep -c ^busy "$dir/once") series, $(grep -c ^node_textfile_mtime "$dir/once") files read," \
    "$(grep ^node_textfile_scrape_error "$dir/once"), errors counted: $(errors once), then $(errors again)"
}
errors() { sed -n 's/^promhttp_metric_handler_errors_total{cause="gathering"} //p' "$dir/$1"; }
{
  try alike '# HELP busy Busy ranks.\n# TYPE busy gauge\nbusy{job="b"} 1\n'
  try 'other help' '# HELP busy Ranks at work.\n# TYPE busy gauge\nbusy{job="b"} 1\n'
  try 'other type' '# HELP busy Busy ranks.\n# TYPE busy counter\nbusy{job="b"} 1\n'
  try 'same series' '# HELP busy Busy ranks.\n# TYPE busy gauge\nbusy{job="a"} 2\n'
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
alike: 2 series, 2 files read, node_textfile_scrape_error 0, errors counted: 0, then 0
other help: 1 series, 2 files read, node_textfile_scrape_error 0, errors counted: 0, then 1
other type: 1 series, 2 files read, node_textfile_scrape_error 0, errors counted: 2, then 3
same series: 1 series, 2 files read, node_textfile_scrape_error 0, errors counted: 4, then 5
SEEN
