#!/bin/bash
# A Slurm epilog (slurm.conf: Epilog=). Runs as root on every node when a job ends there, also after scancel, a requeue or
# a crash. Copies what the recorder left on this node to $TRACES/<run>/epilog/<host>, as the job's user.

TOOLS=${TOOLS:-/shared/tools} # has bin/nccl-trace; bin/node, too, if the nodes have no Node.js
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:$TOOLS/bin # Slurm sets none
TRACES=${TRACES:-/shared/traces}
FROM=${FROM:-/local/scratch/$SLURM_JOB_USER/nccl-trace}

# 4711, and 4711.1, 4711.2 … after requeues.
for run in "$FROM/$SLURM_JOB_ID" "$FROM/$SLURM_JOB_ID".*; do
  to=$TRACES/$(basename "$run")/epilog/$(hostname)
  if [ ! -d "$run" ] || [ -e "$to" ]; then continue; fi
  timeout 150 runuser -u "$SLURM_JOB_USER" -- nccl-trace snapshot --quiet "$run" -o "$to"
done
exit 0 # another status would drain the node
