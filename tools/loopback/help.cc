#include "loopback/options.h"

namespace loopback {

const char kHelp[] = R"(usage: nccl-trace-loopback [options]

Plays NCCL without a GPU: one process per rank, real data over TCP on this machine, and the profiler plugin that
NCCL_PROFILER_PLUGIN names, loaded and called as NCCL does.

examples:
  nccl-trace-loopback --ranks 8                                    a training-like loop
  nccl-trace-loopback --ranks 8 --channels 8 --ops allreduce:64M   one collective
  nccl-trace-loopback --ranks 8 --fault skip:3@2                   a hang: rank 3 never enters iteration 2

workload:
  --ranks N            processes, one simulated GPU each (2)
  --channels C         channels of every communicator (2)
  --iterations K       how often the workload runs (3)
  --settle MS          a pause before the first one, for what a plugin still does in the background (0)
  --ops SCRIPT         the workload of one iteration; see below
  --proto P            auto, simple, ll, ll128 (auto: by size)
  --algo A             ring, tree: of every allreduce (ring)
  --groups [NAME=]K    also split the world into runs of K consecutive ranks (NAME: tp); may be repeated.
                       K:reversed numbers its ranks from the last to the first
  --groups-strided [NAME=]K
                       also into ranks with equal rank % K (NAME: dp); may be repeated
  --no-comm-names      communicators have no names, as NCCL's have by default

  --non-blocking       communicators launch on a thread of their own, when the group's end has returned
  --plan-tasks N       a kernel takes at most N tasks, a group of more becomes several (no limit)

  SCRIPT is a list: allreduce:64M, allreduce@tp:1M*3, group{send+recv:1M}, graph{allreduce:1M}*3, sleep:5ms, sync
    operation  NAME[@COMM][(PEER)][:SIZE][/ALGO][/PROTO][/i32], NAME of allreduce, allgather, reducescatter, broadcast,
               reduce, alltoall, send, recv
    PEER       +k or -k relative to the own rank (send: +1, recv: -1); matching sends and receives belong in one group.
               Of a broadcast or reduce: the root's rank in COMM (0).
               Of an alltoall: the rank in COMM that sends 16 times as much as SIZE says (none)
    i32        says that the numbers are integers; they are floats all the same
    SIZE       bytes with K, M or G: of the whole buffer, so one rank's block of an allgather is SIZE / ranks
    *COUNT     repeats an item
    group{..}  operations joined by +, between ncclGroupStart and ncclGroupEnd; one without size has that of the next
               groups may lie in groups
    graph{..}  operations and groups joined by +, captured in a CUDA graph when first met and replayed COUNT times
    sync       waits for everything enqueued; the end of an iteration does too

plugin:
  --abi N              be the NCCL whose newest profiler version is N, and use the plugin's highest table up to it (6)
                       1: 2.23, 2: 2.25, 3: 2.26, 4: 2.27, 5: 2.28, 6: 2.30, 7: 2.31
  --plugin-abi M       as if the plugin had no table above vM; below --abi it is called through NCCL's adapter (7)
  --user-tag N         what ncclNotifyTag would have set; seen from v7 on (0)
  --exit clean|leave|abrupt|hasty|parent-first|abort
                       leave: exit() without ncclCommDestroy, so without finalize; abrupt: _exit() (clean)
                       hasty: finalize while the last iteration is under way; parent-first: finalize the world, then
                       once more what the script has for other communicators, through the world's proxy

machine:
  --connect-at-use     connections are made when first used, as NCCL does by default: the call waits inside
                       ncclGroupEnd until the ranks at their other ends have come to it
  --one-stream         all communicators of a rank launch into one stream
  --peer-channels C    of one send or receive at most (1)
  --jitter TIME        each rank does each item late, by any time up to that
  --node-size K        so many consecutive ranks share a node: between them nothing goes through the proxy, as far as the
                       profiler can tell (1)
  --pod-size K         RANK, LOCAL_RANK and WORLD_SIZE count pods of so many processes, as some operators set them
  --node-memory VAR=DIR  each node has a folder of its own in DIR, which VAR names to its processes
  --net credits|socket credits: a send waits until the receiver has posted (states 20 repeat); socket: it does not
  --irecv-busy K       the network refuses each receive K times first, so its step starts K more times (0)
  --registered         the network knows the users' buffers: of AllGather each hop, of Send and Recv each GiB is one step,
                       and the first receive starts again and again until its kernel has begun
  --rate-limit MB/s    per rank; 1 MB is 10^6 bytes
  --gpu-tick NS        resolution of the GPU's clock (32; some GPUs have 1024)
  --spin               poll as hard as NCCL, instead of leaving the processor to others
  --seed N             the same communicator ids and clock offsets every time (random)

what NCCL says, beyond the usual:
  --net-events KIND    NetPlugin events, as of a build with NET_PROFILER=1, from 2.26 on
                       ib[:QPS]  InfiniBand, so many queue pairs for each request (1)
                       socket    NCCL's sockets, moved by the progress thread; sockets: by helper threads
                       external  a network plugin from elsewhere, which also sends updates
  --ce                 AllGather by copy engines: CeColl, CeSync, CeBatch from 2.29 on (--abi 6)
  --symmetric          collectives on symmetric memory, from 2.27 on: nearly invisible, with phases in 2.31 (--abi 7)
  --transport net|collnet|memcpy
                       collnet (collectives) and memcpy: operations start as receives, and that is all of them (net)
  --pxn R:P            rank P executes the sends of rank R, but for those to P: PXN
  --abuse              after each stop a call nobody wants, in turn: starts, stops and states that are
                       repeated, late or unknown, with handles, parents and texts that are NULL, stale or garbage

faults (ranks of the world; iterations from 0):
  --fault KIND:RANK@ITER[:WHEN]               RANK goes wrong in that iteration; may be repeated, RANK may be all
                       kill, stop (SIGSTOP), exit (9), abort: before the first call, in the first operation (in, or after
                       so many proxy steps), or after all of it has been waited for: before, in, N, after (in)
                       node: the same, of all processes of its node, whose memory (--node-memory) is gone with them
                       gpu: its GPU stops after N slices; gpu-start: a kernel never begins
                       send, recv: its proxy sends no more, posts no more receives, after N steps
                       stall: its progress thread stops; drop: no byte of its sends arrives; after N steps.
                       drop:RANK@ITER:N/TIME: only for so long
                       post: NCCL hands its proxy the operations of channel 0 only, and its call does not return
                       skip: it never enters that iteration; corrupt: it sends one wrong number, which the job must find
                       other:RANK@ITER:SCRIPT: it calls this instead.
  --slow host:R:TIME   rank R calls late by TIME, in every iteration
  --slow gpu:R:TIME    its kernels begin late in their stream; its calls do not. slice:R:TIME: each slice takes its GPU longer.
                       proxy:R:TIME: its proxy thread stops for TIME after each round. All also TIME/N: in each Nth iteration;
                       TIME@ITER: since then; TIME@ITER-ITER: from, to
  --slow nic:R:MB/s    all that it sends and receives; link:R:MB/s: what it sends to the next rank,
                       channel:R:MB/s: the same on channel 0. May be repeated
  --hang-seconds S     how long a hung job goes on before it is ended (2)
  --hang-signal KILL|TERM|ABORT   how (KILL); ABORT: every rank calls ncclCommAbort and leaves
  --recover abort|shrink:S   S seconds after the death of a rank the others go on without it in new communicators, for as
                       many iterations again, which count on; abort: after ncclCommAbort of the old ones
  --timeout S          the end of everything (60)

output:
  --truth DIR          every rank writes DIR/truth-<rank>.jsonl: what it did by its own account
  --json               a summary as JSON on stdout
  --quiet              nothing on stderr but errors and what the plugin prints

environment: NCCL_PROFILER_PLUGIN as in NCCL
             NCCL_SET_THREAD_NAME=1: NCCL's threads have names
             NCCL_ALLGATHERV_ENABLE=0: NCCL 2.29 and newer report broadcasts, too
             CUDA_LAUNCH_BLOCKING=1: tasks are announced by CUDA's thread for host functions

exit: 0 all ranks finished and all data was right; 1 a rank failed or the time was over; 2 usage; 3 wrong data;
      4 the job hung, as asked by --fault
)";

}  // namespace loopback
