# Trains a small model with PyTorch, all ranks on one GPU.
#
#   train.py ddp|fsdp|straggler|skip|groups RANKS STEPS [TIMEOUT_S]
import os, sys, time, json, datetime
kind, ranks, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
timeout = float(sys.argv[4]) if len(sys.argv) > 4 else 60

def worker(rank):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), NCCL_HOSTID=f'host-{rank}')
    import torch, torch.distributed as dist
    say = lambda what: print(json.dumps(dict(realtime=time.time_ns(), rank=rank, pid=os.getpid(), what=what)), flush=True)
    torch.cuda.set_device(0)
    dist.init_process_group('nccl', timeout=datetime.timedelta(seconds=timeout), device_id=torch.device('cuda:0'))
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
    if kind == 'fsdp':
        from torch.distributed.fsdp import fully_shard
        for layer in model: fully_shard(layer)
        fully_shard(model)
    else:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0], bucket_cap_mb=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    if kind == 'groups':  # two data parallel groups across two tensor parallel ones
        half = ranks // 2
        tp = [dist.new_group(list(range(i * half, (i + 1) * half)), group_desc=f'tp{i}') for i in range(2)][rank // half]
        dp = [dist.new_group([i, i + half], group_desc=f'dp{i}') for i in range(half)][rank % half]
        a = torch.ones(1 << 18, device='cuda')
        say(f'begins with NCCL {torch.cuda.nccl.version()}')
        for step in range(steps):
            if rank == ranks - 1 and step == steps // 2:
                say('sleeps'); time.sleep(600)
            for _ in range(3): dist.all_reduce(a, group=tp)
            dist.all_reduce(a, group=dp)
            dist.all_to_all_single(torch.empty_like(a), a)
        torch.cuda.synchronize(); say('done'); return
    x = torch.randn(256, 1024, device='cuda')
    heavy = torch.randn(4096, 4096, device='cuda')
    say(f'begins with NCCL {torch.cuda.nccl.version()}')
    for step in range(steps):
        if kind == 'straggler' and rank == 1:
            for _ in range(150): heavy @ heavy
        if kind == 'skip' and rank == 1 and step == steps // 2:
            say('sleeps'); time.sleep(600)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step(); optimizer.zero_grad()
        if step % 10 == 9:
            total = loss.detach().clone(); dist.all_reduce(total); total.item()
    torch.cuda.synchronize()
    say('done')
    dist.destroy_process_group()

if __name__ == '__main__':
    import multiprocessing
    context = multiprocessing.get_context('spawn')
    os.environ.update(MASTER_ADDR='127.0.0.1')
    os.environ.setdefault('MASTER_PORT', '29511')
    processes = [context.Process(target=worker, args=(r,)) for r in range(ranks)]
    [p.start() for p in processes]
    [p.join() for p in processes]
    print(json.dumps(dict(realtime=time.time_ns(), exits=[p.exitcode for p in processes])))
