#!/bin/bash
# A Slurm task prolog (slurm.conf: TaskProlog=) that switches the recorder on in every job. Slurm runs it as the job's user before each task, and
# adds to the task's environment what it prints. A job that sets NCCL_PROFILER_PLUGIN itself is left alone; with NCCL_TRACE_EVENTS=none
# a job records nothing. Whatever is missing on a node, its jobs run as before.

TOOLS=${TOOLS:-/shared/tools} # has libnccl-profiler-trace.so
FROM=${FROM:-/local/scratch/$(id -un)/nccl-trace}

plugin=$TOOLS/libnccl-profiler-trace.so
if [ -n "$NCCL_PROFILER_PLUGIN" ] || [ ! -r "$plugin" ]; then exit 0; fi
echo "export NCCL_PROFILER_PLUGIN=$plugin"
[ -n "$NCCL_TRACE_DIR" ] || echo "export NCCL_TRACE_DIR=$FROM"
