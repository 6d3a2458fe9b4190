#!/bin/bash
# What the recorder costs under NCCL on one GPU: iterations without a plugin, with plugins that only ask for events
# (stub), and with the recorder, in turn. Prints the medians of ROUNDS runs, in microseconds per iteration.
#
#   overhead.sh [gpu_job options]      default: two processes over sockets, under CUDA MPS so that both kernels run at a time
set -eu
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-7}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export NCCL_MAX_NCHANNELS=2 NCCL_TRACE_RING_MB=16 NCCL_TRACE_DIR=$out/trace
options=("$@")
if [ $# = 0 ]; then
  options=(--ranks 2)
  export CUDA_MPS_PIPE_DIRECTORY=$out/mps CUDA_MPS_LOG_DIRECTORY=$out/mps
  mkdir "$out/mps"
  nvidia-cuda-mps-control -d
  trap 'echo quit | nvidia-cuda-mps-control; rm -rf "$out"' EXIT
fi
options+=(--quiet --iterations 400 --warmup 20 --ops allreduce:8K --ops allreduce:1M --ops allreduce:16M)

recorder=$PWD/build/libnccl-profiler-trace.so
default=Group,Coll,P2p,ProxyOp,ProxyStep,GroupApi,CollApi,P2pApi,KernelLaunch
once() { # NAME SETTING... : one run
  local name=$1
  shift
  env "$@" build/gpu_job "${options[@]}" | sed -n 's/.*"p50":\([0-9.]*\).*/\1/p' | paste -sd' ' >>"$out/$name"
  rm -rf "$NCCL_TRACE_DIR"
}
for ((round = 0; round < rounds; ++round)); do
  once none NCCL_PROFILER_PLUGIN=none
  once stub NCCL_PROFILER_PLUGIN="$PWD/build/libnccl-profiler-stub.so"
  once flight NCCL_PROFILER_PLUGIN="$recorder"
  once flight+KernelCh NCCL_PROFILER_PLUGIN="$recorder" NCCL_TRACE_EVENTS=$default,KernelCh
  once stream NCCL_PROFILER_PLUGIN="$recorder" NCCL_TRACE_MODE=stream
done
echo "                     8 KB       1 MB      16 MB"
for name in none stub flight flight+KernelCh stream; do
  printf '%-16s' "$name"
  for column in 1 2 3; do
    cut -d' ' -f$column "$out/$name" | sort -n | awk '{ v[NR] = $1 } END { printf "%11.1f", v[int((NR + 1) / 2)] }'
  done
  echo
done
