# Trains with tensor, data and pipeline parallelism (2 x 2 x 2) in PyTorch: eight ranks on one GPU, with a fault on request.
#
#   parallel.py STEPS [FAULT RANK STEP [MS]]
#
# FAULT is what rank RANK does, from step STEP on:
#   slow-gpu     its GPU computes MS longer            slow-host    it calls MS later            loader  it waits MS for data, in every 4th step
# or in step STEP:
#   checkpoint   it writes for MS, the others wait     hang-gpu     its GPU never ends           hang-host  it never calls again
#   kill         SIGKILL        stop  SIGSTOP          exit         it leaves by os._exit        error   an exception ends it
#   short        it has no more data, and leaves       bigger       its AllReduce is larger      swapped    it calls AllReduce and ReduceScatter in the other order
#   unmatched    it sends its activations to nobody: it receives instead
import os, sys, time, json, signal, datetime
steps = int(sys.argv[1])
fault, faulty, fault_step, ms = (sys.argv[2:] + ['', '', '', ''])[:4]
faulty, fault_step, ms = int(faulty or -1), int(fault_step or 0), float(ms or 0)
give_up_s = float(os.environ.get('GIVE_UP_S', '20'))  # then all ranks that are left are killed; importing PyTorch is part of this time
TP, DP, PP = 2, 2, 2
ranks = TP * DP * PP
MICRO_BATCHES = 3
CYCLES_PER_MS = 1_500_000  # of the GPU, about


def worker(rank):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), NCCL_HOSTID=f'host-{rank}')
    import torch, torch.distributed as dist
    say = lambda what: print(json.dumps(dict(realtime=time.time_ns(), rank=rank, pid=os.getpid(), what=what)), flush=True)
    torch.cuda.set_device(0)
    dist.init_process_group('nccl', timeout=datetime.timedelta(seconds=600), device_id=torch.device('cuda:0'))
    at = lambda tp, dp, pp: pp * DP * TP + dp * TP + tp
    tp_rank, dp_rank, pp_rank = rank % TP, rank // TP % DP, rank // (TP * DP)

    def groups(name, members):
        made = [dist.new_group(m, group_desc=f'{name}{i}') for i, m in enumerate(members)]
        return next(g for g, m in zip(made, members) if rank in m)

    tp = groups('tp', [[at(t, d, p) for t in range(TP)] for p in range(PP) for d in range(DP)])
    dp = groups('dp', [[at(t, d, p) for d in range(DP)] for p in range(PP) for t in range(TP)])
    pp = groups('pp', [[at(t, d, p) for p in range(PP)] for d in range(DP) for t in range(TP)])
    peer = at(tp_rank, dp_rank, 1 - pp_rank)
    weights = torch.randn(1024, 1024, device='cuda') / 32
    activations = torch.randn(128, 1024, device='cuda')
    gradients = torch.randn(1 << 19, device='cuda')
    shard = torch.empty((1 << 19) // DP, device='cuda')
    statistics, larger = torch.ones(1 << 15, device='cuda'), torch.ones(1 << 17, device='cuda')
    norm = torch.ones(1, device='cuda')
    step = -1

    def compute():
        nonlocal activations
        activations = torch.tanh(activations @ weights)
        if fault == 'slow-gpu' and rank == faulty and step >= fault_step:
            torch.cuda._sleep(int(ms / (2 * MICRO_BATCHES) * CYCLES_PER_MS))
        dist.all_reduce(activations, group=tp)

    def move(send):
        if fault == 'unmatched' and rank == faulty and step == fault_step: send = not send
        op = dist.P2POp(dist.isend if send else dist.irecv, activations, peer, group=pp)
        for work in dist.batch_isend_irecv([op]): work.wait()

    def begin_of_step():
        if rank != faulty or not fault: return
        if fault == 'slow-host' and step >= fault_step: time.sleep(ms / 1e3)
        if fault == 'loader' and step >= fault_step and step % 4 == 0: time.sleep(ms / 1e3)
        if step != fault_step: return
        say(f'{fault} in step {step}')
        if fault == 'checkpoint': torch.cuda.synchronize(); time.sleep(ms / 1e3)
        if fault == 'hang-gpu': torch.cuda._sleep(1 << 42)
        if fault == 'hang-host': time.sleep(600)

    def middle_of_step():
        if rank != faulty or step != fault_step: return
        if fault in ('kill', 'stop', 'exit', 'error'): say(f'{fault} in the middle of step {step}')
        if fault == 'kill': os.kill(os.getpid(), signal.SIGKILL)
        if fault == 'stop': os.kill(os.getpid(), signal.SIGSTOP)
        if fault == 'exit': os._exit(3)
        if fault == 'error': raise RuntimeError('a tensor has the wrong shape')

    for g in (tp, dp): dist.all_reduce(norm, group=g)
    move(pp_rank == 0)
    dist.all_reduce(norm)
    torch.cuda.synchronize()
    say(f'begins with NCCL {torch.cuda.nccl.version()}')
    for step in range(steps):
        begin_of_step()
        if fault == 'short' and rank == faulty and step == fault_step:
            say(f'short: no data in step {step}'); break
        for _ in range(MICRO_BATCHES):  # forward
            if pp_rank == 1: move(False)
            compute()
            if pp_rank == 0: move(True)
        middle_of_step()
        for _ in range(MICRO_BATCHES):  # backward
            if pp_rank == 0: move(False)
            compute()
            if pp_rank == 1: move(True)
        here = rank == faulty and step == fault_step
        calls = [
            lambda: dist.reduce_scatter_tensor(shard, gradients, group=dp),
            lambda: dist.all_reduce(larger if fault == 'bigger' and here else statistics, group=dp),
            lambda: dist.all_gather_into_tensor(gradients, shard, group=dp),
        ]
        if fault == 'swapped' and here: calls[:2] = calls[1::-1]
        for call in calls: call()
        if fault == 'checkpoint' and step == fault_step: dist.barrier()
        dist.all_reduce(norm)
        norm.fill_(1); norm.item()
    torch.cuda.synchronize()
    say('done')
    dist.destroy_process_group()


if __name__ == '__main__':
    import multiprocessing
    context = multiprocessing.get_context('spawn')
    os.environ.update(MASTER_ADDR='127.0.0.1')
    os.environ.setdefault('MASTER_PORT', '29531')
    processes = [context.Process(target=worker, args=(r,)) for r in range(ranks)]
    for p in processes: p.start()
    end = time.time() + give_up_s
    for p in processes: p.join(max(0, end - time.time()))
    print(json.dumps(dict(realtime=time.time_ns(), killed=[r for r, p in enumerate(processes) if p.is_alive()])))
    for p in processes:
        if p.is_alive(): p.kill()
    for p in processes: p.join()
    print(json.dumps(dict(realtime=time.time_ns(), exits=[p.exitcode for p in processes])))
