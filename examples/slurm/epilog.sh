#!/bin/bash
# A Slurm epilog (slurm.conf: Epilog=) that leaves the verdict beside the job's log. It runs as root on every node when a job ends there, also
# after a crash, scancel or a requeue. Each node scans its own rank files, as the job's user, and studies all scans that are there so far: the last
# node of the job sees all of them. A node that never comes leaves its ranks named as missing. The rank files stay where they are.
#
#   nccl-trace-4711/run.study      for "nccl-trace inspect", "report", and "convert" on the nodes (docs/merge-at-scale.md)
#   nccl-trace-4711/verdict.txt    what "nccl-trace inspect" says
#
# If that is HUNG, BROKEN OFF or MISMATCH, its first line also goes to the system's log.
#
# The folder is beside the job's log if Slurm tells where that is, else in $TRACES. After a requeue it is nccl-trace-4711.1.

TOOLS=${TOOLS:-/shared/tools}            # has bin/nccl-trace; bin/node, too, if the nodes have no Node.js
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:$TOOLS/bin # Slurm sets none
TRACES=${TRACES:-/shared/traces}         # a disk that all nodes see
FROM=${FROM:-/local/scratch/$SLURM_JOB_USER/nccl-trace}
PATIENCE=${PATIENCE:-150} # seconds
KEEP=${KEEP:-all} # failed: deletes the rank files of jobs that did not fail

# 4711, then 4711.1 after the first requeue: only the newest start has just ended.
files=$(ls -d "$FROM/$SLURM_JOB_ID" "$FROM/$SLURM_JOB_ID".* 2> /dev/null | sort -V | tail -n 1)
[ -d "$files" ] || exit 0 # it did not record
# Slurm's exit code is 0 after scancel, too. A rank that ended in order has closed its file: a 2 at byte 2048 (schemas/rank-file.md).
all_closed() {
  for file in "$files"/rank*.bin; do [ "$(od -An -tu4 -j2048 -N4 "$file")" -eq 2 ] || return; done
}
if [ "${SLURM_JOB_EXIT_CODE:-1}" = 0 ] && all_closed; then
  [ "$KEEP" = all ] || runuser -u "$SLURM_JOB_USER" -- rm -r -- "$files"
  exit 0
fi
# What Slurm gives us is the pattern of --output. What is left of it in the name of a folder is not a folder.
log=$(timeout 20 scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *StdOut=//p' | head -n 1)
case $(dirname -- "$log") in . | *%*) ;; *) TRACES=$(dirname -- "$log") ;; esac
export out=$TRACES/nccl-trace-$(basename "$files") files node=${SLURMD_NODENAME:-$(hostname -s)}

timeout "$PATIENCE" runuser -u "$SLURM_JOB_USER" -- bash -c '
  mkdir -p "$out" && nccl-trace scan --quiet "$files" -o "$out/$node.scan" || exit
  # One node at a time, so that the last study has all scans.
  exec 9> "$out/.lock" && flock 9 || exit
  nccl-trace study --quiet --force --allow-missing "$out"/*.scan -o "$out/run.study" || exit
  nccl-trace inspect "$out/run.study" --fail-on hung,broken,mismatch > "$out/verdict.txt" 2>&1
  [ $? != 5 ] || logger -t nccl-trace "job $SLURM_JOB_ID: $(head -n 1 "$out/verdict.txt")"
'
exit 0 # another status would drain the node
