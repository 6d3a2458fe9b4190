#!/usr/bin/env bash
# Expected: the start time of a process (field 22 of /proc/PID/stat) is one number, so that with the pid and the boot id
#   it names the process for good.
# Happens: the kernel converts it to the boot clock of the *reader's* time namespace. A reader in another namespace
#   sees the same living process with another start, by exactly the offset. The boot id stays the same.
# Versions: Linux 5.6 and later (run on 6.18), Debian util-linux 2.38.1.
# Output seen: below, after SEEN.
# Why it matters: CRIU and some containers use time namespaces. A tool that tells a reused pid by its start takes a
#   running rank for gone. Ask something else as well, such as a lock that the process holds.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
elsewhere=(unshare --user --map-root-user --time --boottime 1000 --fork)
if ! "${elsewhere[@]}" true 2>/dev/null; then
  echo "needs unshare with user and time namespaces (apt-get install util-linux; Linux 5.6)" >&2
  exit 1
fi

# After the name, which may contain spaces, field 22 is the 20th.
start="sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20"
here=$(sh -c "$start")
there=$("${elsewhere[@]}" sh -c "$start")
boot=/proc/sys/kernel/random/boot_id
{
  echo "start: $(((there - here) / $(getconf CLK_TCK))) s later where the boot clock is 1000 s ahead"
  [[ $(cat $boot) == "$("${elsewhere[@]}" cat $boot)" ]] && echo "boot id: the same" || echo "boot id: another"
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
start: 1000 s later where the boot clock is 1000 s ahead
boot id: the same
SEEN
