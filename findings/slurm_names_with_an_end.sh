#!/usr/bin/env bash
# Expected: `scontrol show hostnames` expands what people write for the second network of their nodes, n[1-3]-ib.
# Happens: "Invalid hostlist": in Slurm 22.05 a bracket ends the name. Two brackets with text between them are fine, and
#   `show hostlist` folds such names not at all. An overlap is kept twice; folding keeps the given order, so the range
#   in n[9-10,8] does not start with the least.
# Versions: Debian slurm-client 22.05.8-4+deb12u3.
# Output seen: below, after SEEN.
# Why it matters: rank 0 is "the first host of the list" in most job scripts, and hosts of the fast network get their
#   names by a suffix. Expand the plain names first, add the suffix to each line, and sort if order matters.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(dpkg-query -W -f '${Version}' slurm-client 2>/dev/null || true)
if [[ $version != 22.05.8-* ]]; then
  echo "needs slurm-client 22.05.8 (Debian 12: apt-get install slurm-client), found ${version:-none}" >&2
  exit 1
fi

# It needs a configuration to start, and no daemon.
printf '%s\n' ClusterName=try SlurmctldHost=localhost NodeName=localhost 'PartitionName=try Nodes=ALL' >"$dir/slurm.conf"
export SLURM_CONF=$dir/slurm.conf
expand() { echo "$1 -> $(scontrol show hostnames "$1" 2>&1 | paste -sd' ')"; }
fold() { echo "$1 -> $(scontrol show hostlist "$1" 2>&1)"; }
{
  expand 'n[1-3]'
  expand 'n[1-3]-ib'
  expand 'r[1-2]n[1-2]'
  expand 'n[1-3,2]'
  fold n1,n2,n3
  fold n1-ib,n2-ib,n3-ib
  fold n9,n10,n8
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
n[1-3] -> n1 n2 n3
n[1-3]-ib -> Invalid hostlist: n[1-3]-ib
r[1-2]n[1-2] -> r1n1 r1n2 r2n1 r2n2
n[1-3,2] -> n1 n2 n3 n2
n1,n2,n3 -> n[1-3]
n1-ib,n2-ib,n3-ib -> n1-ib,n2-ib,n3-ib
n9,n10,n8 -> n[9-10,8]
SEEN
