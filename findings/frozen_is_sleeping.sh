#!/usr/bin/env bash
# Expected: a process whose control group is frozen (docker pause, a checkpoint) is in state T, as after SIGSTOP, or in D.
# Happens: in cgroup v2 its state is S, as of any process that waits. SIGSTOP does not change it until the group is thawed.
#   Only the group's cgroup.events says "frozen 1". In cgroup v1 the state was D.
# Versions: Linux 6.18.
# Output seen: below, after SEEN.
# Why it matters: a rank of a paused container looks alive in ps and top while all others wait for it, and a watchdog that looks
#   for T calls it healthy. Ask its control group, too.
# Needs: root, and a mounted cgroup v2.
set -euo pipefail
mount=$(findmnt -rn -t cgroup2 -o TARGET | head -n 1)
[[ $EUID == 0 && -n $mount ]] || { echo "needs root and cgroup v2" >&2; exit 1; }
dir=$(mktemp -d)
group=$mount/findings-$$
mkdir "$group"
sleep 100 &
pid=$!
clean() {
  kill -9 "$pid" && wait "$pid" || true
  rmdir "$group"
  rm -r "$dir"
}
trap 'clean 2>/dev/null' EXIT

echo "$pid" >"$group/cgroup.procs"
state() { sleep 0.5; echo "$1: $(ps -o stat= -p "$pid"), $(grep frozen "$group/cgroup.events")"; }
{
  state runs
  echo 1 >"$group/cgroup.freeze"
  state frozen
  kill -STOP "$pid"
  state 'frozen, and SIGSTOP'
  echo 0 >"$group/cgroup.freeze"
  state thawed
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
runs: S, frozen 0
frozen: S, frozen 1
frozen, and SIGSTOP: S, frozen 1
thawed: T, frozen 0
SEEN
