#!/bin/bash
# A Slurm epilog (slurm.conf: Epilog=) that leaves the verdict beside the job's log. It runs as root on every node when a job ends there, also
# after a crash, scancel or a requeue. Each node scans its own rank files, as the job's user, and studies all scans that are there so far: the last
# node of the job sees all of them. A node that never comes leaves its ranks named as missing. The rank files stay where they are.
#
#   nccl-trace-4711/run.study      for "nccl-trace inspect", "report", and "convert" on the nodes (docs/cluster.md)
#   nccl-trace-4711/verdict.txt    what "nccl-trace inspect" says
#
# If that is HUNG, BROKEN OFF or MISMATCH, its first line also goes to the system's log.
#
# The folder is beside the job's log if Slurm tells where that is, else in $TRACES. After a requeue it is nccl-trace-4711.1.

PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH # Slurm sets none
TOOLS=${TOOLS:-/shared/tools}            # has bin/nccl-trace
TRACES=${TRACES:-/shared/traces}         # a disk that all nodes see
FROM=${FROM:-/local/scratch/$SLURM_JOB_USER/nccl-trace}
PATIENCE=${PATIENCE:-150} # seconds
KEEP=${KEEP:-all} # failed: deletes the rank files of jobs that did not fail

# 4711, then 4711.1 after the first requeue: only the newest start has just ended.
files=$(ls -d "$FROM/$SLURM_JOB_ID" "$FROM/$SLURM_JOB_ID".* 2> /dev/null | sort -V | tail -n 1)
[ -d "$files" ] || exit 0 # it did not record
if [ "${SLURM_JOB_EXIT_CODE:-1}" = 0 ]; then
  [ "$KEEP" = all ] || runuser -u "$SLURM_JOB_USER" -- rm -r -- "$files"
  exit 0
fi
log=${SLURM_JOB_STDOUT//%[jA]/$SLURM_JOB_ID}
[ -n "$log" ] && TRACES=$(dirname "$log")
export nccl_trace=$TOOLS/bin/nccl-trace out=$TRACES/nccl-trace-$(basename "$files") files node=${SLURMD_NODENAME:-$(hostname -s)}

timeout "$PATIENCE" runuser -u "$SLURM_JOB_USER" -- bash -c '
  mkdir -p "$out" && "$nccl_trace" scan --quiet "$files" -o "$out/$node.scan" || exit
  # One node at a time, so that the last study has all scans.
  exec 9> "$out/.lock" && flock 9 || exit
  "$nccl_trace" study --quiet --force --allow-missing "$out"/*.scan -o "$out/run.study" || exit
  "$nccl_trace" inspect "$out/run.study" --fail-on hung,broken,mismatch > "$out/verdict.txt" 2>&1
  [ $? != 5 ] || logger -t nccl-trace "job $SLURM_JOB_ID: $(head -n 1 "$out/verdict.txt")"
'
exit 0 # another status would drain the node
