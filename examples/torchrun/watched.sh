#!/bin/bash
# Runs a job with the recorder, and ends it when it hangs, so that a scheduler can start it again at once:
#
#   watched.sh torchrun --nproc-per-node=8 --max-restarts=0 train.py
#
# `nccl-trace watch` runs beside it. If the ranks of this node hang, it says so, takes the rank files, stacks and what the kernel knows of the
# suspects into $NCCL_TRACE_DIR/<start>/incidents, and then ends the job: the input of the command ends when all is taken. Then the script exits with 5, otherwise with the job's own code. On several
# nodes each node does this for itself: in a hang the ranks of all nodes wait. Let the scheduler restart the job, not torchrun, because ranks
# that torchrun has ended leave the files of a hang.

GRACE=${GRACE:-30} # seconds between TERM and KILL

export NCCL_PROFILER_PLUGIN=${NCCL_PROFILER_PLUGIN:-$(nccl-trace plugin-path)}
# A folder for this start alone: the files of an earlier hang must not end it.
export NCCL_TRACE_DIR=${NCCL_TRACE_DIR:-$PWD/nccl-trace}/$(date -u +%Y%m%dT%H%M%SZ).$$

"$@" &
job=$!
trap 'kill "$job"' INT TERM
nccl-trace watch "$NCCL_TRACE_DIR" --every "${EVERY:-5}" --act-on hung --exec \
  'touch "$NCCL_TRACE_DIR.hung"; cat > /dev/null; kill '"$job; timeout $GRACE tail --pid=$job -f /dev/null || kill -KILL $job" >&2 &
watch=$!

wait "$job"
code=$?
kill "$watch" && wait "$watch"
[ -e "$NCCL_TRACE_DIR.hung" ] && exit 5
exit "$code"
