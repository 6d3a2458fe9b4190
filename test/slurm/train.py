"""One rank of a training job, started as any is: by srun, or by torchrun. The ranks are those of the loopback, with its bytes, sockets and
the plugin. Rank 0 also does what the loopback's launcher does: it introduces the ranks to each other.

LOOPBACK names the program. The arguments go to it."""

import hashlib
import os
import socket
import struct
import sys
import threading
import time

HELLO, BARRIER, GO = 0, 2, 3  # tools/loopback/control.h

rank = int(os.environ.get("RANK") or os.environ["SLURM_PROCID"])
world = int(os.environ.get("WORLD_SIZE") or os.environ["SLURM_NTASKS"])
job = ".".join(os.environ.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_RESTART_COUNT"))
# Both nodes are on one machine. A name that begins with zero is seen from both, and is gone with the process.
name = "\0nccl-trace-train-" + job


def introduce(server):
    """The ranks' ports to all ranks, then barriers."""
    ends = [server.accept()[0] for _ in range(world)]
    of_rank = {struct.unpack("i", end.recv(4))[0]: end for end in ends}
    ends = [of_rank[r] for r in range(world)]
    kind = lambda message: struct.unpack_from("I", message)[0]
    while True:
        # A rank sends its results between barriers.
        waiting = []
        for end in ends:
            message = end.recv(4096)
            while message and kind(message) not in (HELLO, BARRIER):
                message = end.recv(4096)
            waiting.append(message)
        if not all(waiting):
            return
        if kind(waiting[0]) == HELLO:
            ports = b"".join(message[8:10] for message in waiting)
            answer = ports
        else:
            answer = waiting[0].replace(struct.pack("I", BARRIER), struct.pack("I", GO), 1)
        for end in ends:
            end.send(answer)


if rank == 0:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(name)
    server.listen(world)
    if os.fork() == 0:
        introduce(server)
        os._exit(0)
    server.close()

control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
while True:
    try:
        control.connect(name)
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
control.send(struct.pack("i", rank))
control.set_inheritable(True)
memory = os.memfd_create("train", 0)
os.ftruncate(memory, 1 << 20)
own = {"--ranks": world, "--rank": rank, "--control-fd": control.fileno(), "--memory-fd": memory}
own["--run-id"] = "0x" + hashlib.sha256(job.encode()).hexdigest()[:12]
program = os.environ["LOOPBACK"]
os.execv(program, [program, *sys.argv[1:], *(str(word) for pair in own.items() for word in pair)])
