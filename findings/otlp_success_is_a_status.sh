#!/usr/bin/env bash
# Expected: the exporter's callback fails when the collector rejects points or is no collector, and says what it answered.
# Happens: every status 200 is success: a partial success with 7 rejected points (told to the diagnostic logger only),
#   and a login page in HTML. A 429 that outlasts the deadline fails without status and without body. A 400 has both.
# Versions: @opentelemetry/exporter-metrics-otlp-proto 0.223.0, sdk-metrics 2.12.0.
# Output seen: below, after SEEN (code 0 is success).
# Why it matters: metrics of a job vanish behind a quota or a proxy, and the sender reports that all went well. Read
#   the bodies of the answers, where you can get at them, and count the rejected points.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  @opentelemetry/exporter-metrics-otlp-proto@0.223.0 @opentelemetry/sdk-metrics@2.12.0 \
  @opentelemetry/resources@2.12.0 @opentelemetry/api@1.9.1 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { emptyResource } from '@opentelemetry/resources';

// ExportMetricsServiceResponse { partial_success { rejected_data_points: 7, error_message: "full" } }
const partial = Buffer.concat([Buffer.from([0x0a, 8, 0x08, 7, 0x12, 4]), Buffer.from('full')]);
const answers = [
  ['partial success', 200, 'application/x-protobuf', partial],
  ['login page', 200, 'text/html', '<html>Please log in</html>'],
  ['quota', 429, 'text/plain', 'quota of tenant 7 is used up'],
  ['bad name', 400, 'text/plain', 'bad metric name'],
];
for (const [what, status, type, body] of answers) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${server.address().port}/v1/metrics`;
  const exporter = new OTLPMetricExporter({ url, timeoutMillis: 1500 });
  const metrics = { resource: emptyResource(), scopeMetrics: [] };
  const { code, error } = await new Promise((done) => exporter.export(metrics, done));
  const said = error && `${error.message}, status ${error.code}, body ${error.data}`;
  console.log(`${status} ${what}: code ${code}, ${said ?? 'no error'}`);
  await exporter.shutdown();
  server.closeAllConnections();
  server.close();
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
200 partial success: code 0, no error
200 login page: code 0, no error
429 quota: code 1, Export failed with retryable status, status undefined, body undefined
400 bad name: code 1, Bad Request, status 400, body bad metric name
SEEN
