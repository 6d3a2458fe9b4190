// release/: what a cluster installs (docs/install.md), with the symbols of its native files, its bill of materials and checksums of all.
//
//   npm run release

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const release = path.join(root, 'release');

rmSync(release, { recursive: true, force: true });
mkdirSync(release);
execFileSync('npm', ['pack', '--silent', '--pack-destination', release], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const symbols = path.join(release, `${name}-${version}-symbols.tar.gz`);
execFileSync('tar', ['czf', symbols, '-C', path.join(root, 'build'), 'symbols']);
copyFileSync(path.join(root, 'sbom.cdx.json'), path.join(release, 'sbom.cdx.json'));
const sums = readdirSync(release)
  .sort()
  .map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(path.join(release, file)))
        .digest('hex')}  ${file}\n`,
  );
writeFileSync(path.join(release, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));
