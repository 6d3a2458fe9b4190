#!/bin/bash
# A Slurm epilog (slurm.conf: Epilog=). Runs as root on every node when a job ends there, also after scancel, a requeue or
# a crash. Copies what the recorder left on this node to $TRACES/<run>/epilog/<host>, as the job's user.

PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH # Slurm sets none
TOOLS=${TOOLS:-/shared/tools}
TRACES=${TRACES:-/shared/traces}
FROM=${FROM:-/local/scratch/$SLURM_JOB_USER/nccl-trace}

# 4711, and 4711.1, 4711.2 … after requeues.
for run in "$FROM/$SLURM_JOB_ID" "$FROM/$SLURM_JOB_ID".*; do
  to=$TRACES/$(basename "$run")/epilog/$(hostname)
  if [ ! -d "$run" ] || [ -e "$to" ]; then continue; fi
  timeout 150 runuser -u "$SLURM_JOB_USER" -- "$TOOLS/bin/nccl-trace" snapshot --quiet "$run" -o "$to"
done
exit 0 # another status would drain the node
