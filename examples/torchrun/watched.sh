#!/bin/bash
# Runs a job with the recorder, and ends it when it hangs, so that a scheduler can start it again at once:
#
#   watched.sh torchrun --nproc-per-node=8 --max-restarts=0 train.py
#
# Every $CHECK seconds it asks for the verdict on the ranks of this node. If that is HUNG, it copies the rank files with their newest records to
# $NCCL_TRACE_DIR/<start>.hung, prints the verdict, ends the job and exits with 5. Otherwise it exits with the job's own code. On several nodes each
# node does this for itself: in a hang the ranks of all nodes wait. Let the scheduler restart the job, not torchrun, because ranks that
# torchrun has ended leave the files of a hang.

CHECK=${CHECK:-60} # seconds
GRACE=${GRACE:-30} # seconds between TERM and KILL

export NCCL_PROFILER_PLUGIN=${NCCL_PROFILER_PLUGIN:-$(nccl-trace plugin-path)}
# A folder for this start alone: the files of an earlier hang must not end it.
export NCCL_TRACE_DIR=${NCCL_TRACE_DIR:-$PWD/nccl-trace}/$(date -u +%Y%m%dT%H%M%SZ).$$

"$@" &
job=$!
trap 'kill "$job"' INT TERM

while kill -0 "$job" 2> /dev/null; do
  sleep "$CHECK" &
  timer=$!
  wait -n "$job" "$timer"
  kill "$timer" 2> /dev/null && continue # the job has ended, or a signal came
  verdict=$(nccl-trace inspect "$NCCL_TRACE_DIR" --quiet --fail-on hung 2> /dev/null)
  [ $? = 5 ] || continue # other codes say nothing about the job: there may be no files yet
  echo "$verdict" >&2
  nccl-trace snapshot --quiet "$NCCL_TRACE_DIR" -o "$NCCL_TRACE_DIR.hung" > /dev/null
  kill "$job"
  for _ in $(seq "$GRACE"); do kill -0 "$job" 2> /dev/null && sleep 1; done
  kill -KILL "$job" 2> /dev/null
  exit 5
done
wait "$job"
