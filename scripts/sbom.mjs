// sbom.cdx.json: what the package consists of besides our own code (CycloneDX, by `npm sbom` from package-lock.json). `npm pack`
// calls it. The same lock file gives the same bytes: no date, no serial number, no place of this checkout.
//
// What only development needs is taken out here and not by `--omit=dev`, which also leaves out what tools need beside us
// (npm 11.19 lists neither esbuild nor protobufjs then).

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Their code is in dist/ (scripts/bundle.mjs). For npm they are dev dependencies: an install does not need them. */
const IN_DIST = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-metrics-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  'apache-arrow',
  'chart.js',
  'commander',
  'console-table-printer',
  'fzstd',
  'parquet-wasm',
  'prom-client',
  'protobufjs',
];
/** Its runtime, which manages memory, is in dist/kernel.wasm. What the compiler needs is not. */
const IN_KERNEL = 'assemblyscript@';
const { name, dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--offline'];
const sbom = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }));
const needed = neededBy(sbom.metadata.component['bom-ref']);
needed.add(sbom.components.map((component) => component['bom-ref']).find((ref) => ref.startsWith(IN_KERNEL)));
sbom.components = sbom.components.filter((component) => needed.has(component['bom-ref']));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => needed.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => needed.has(other)) }));
delete sbom.serialNumber;
delete sbom.metadata.timestamp;
sbom.metadata.component.name = name;
const output = process.argv[2] ?? path.join(root, 'sbom.cdx.json');
writeFileSync(output, `${JSON.stringify(sbom, null, 2)}\n`);

/** References of the project itself and of all that its dependencies need. */
function neededBy(project) {
  const uses = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const isOurs = (ref) =>
    [...Object.keys(dependencies), ...IN_DIST].some((ours) => ref.startsWith(`${ours}@`));
  const found = new Set([project]);
  const queue = uses.get(project).filter(isOurs);
  for (let ref = queue.pop(); ref !== undefined; ref = queue.pop()) {
    if (found.has(ref)) continue;
    found.add(ref);
    // Types have no code.
    queue.push(...(uses.get(ref) ?? []).filter((other) => !other.startsWith('@types/')));
  }
  return found;
}
