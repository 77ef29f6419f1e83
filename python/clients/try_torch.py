"""try_torch.py: does PyTorch run here with device="cuda"? A few steps of training give the CPU's
losses, and a Triton kernel reads and writes tensors; prints "works"."""

import torch
import triton
import triton.language as tl


@triton.jit
def halve(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) / 2, i < n)


def losses(device):
    torch.manual_seed(0)
    data, target = torch.randn(32, 8), torch.randint(0, 3, (32,))
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16),
                                torch.nn.Linear(16, 3)).to(device)
    data, target = data.to(device), target.to(device)
    steps = torch.optim.AdamW(model.parameters(), lr=1e-2)
    found = []
    for _ in range(4):
        loss = torch.nn.functional.cross_entropy(model(data), target)
        steps.zero_grad()
        loss.backward()
        steps.step()
        found.append(loss.item())
    return found


assert losses("cuda") == losses("cpu"), (losses("cuda"), losses("cpu"))
x = torch.arange(1000, device="cuda", dtype=torch.float32)
halve[(4,)](x, 1000, BLOCK=256)
assert torch.equal(x.cpu(), torch.arange(1000) / 2)
print("works")
