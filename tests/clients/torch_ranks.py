"""torch_ranks.py: two processes with a simulated GPU each, as torchrun starts them, over "nccl".

    lockstep run --gpu sim:h200x2 torchrun --standalone --nproc-per-node 2 tests/clients/torch_ranks.py

Collectives, messages from one to the other, and data-parallel training, whose gradients are those of
the whole batch.
"""

import os

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
mine = torch.full((3,), rank + 1.0, device="cuda")

total = mine.clone()
dist.all_reduce(total)
assert total.tolist() == [3] * 3, total
parts = torch.empty(6, device="cuda")
dist.all_gather_into_tensor(parts, mine)
assert parts.tolist() == [1] * 3 + [2] * 3, parts
other = torch.empty(3, device="cuda")
for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, other, 1 - rank)]):
    work.wait()
assert other.tolist() == [2 - rank] * 3, other
dist.barrier()

torch.manual_seed(0)
whole, x = nn.Linear(4, 2).cuda(), torch.randn(8, 4, device="cuda")
parallel = nn.parallel.DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[rank])
parallel.module.load_state_dict(whole.state_dict())
parallel(x[rank * 4:][:4]).square().mean().backward()
whole(x).square().mean().backward()
torch.testing.assert_close(parallel.module.weight.grad, whole.weight.grad)
dist.destroy_process_group()
print(f"rank {rank} works", flush=True)
