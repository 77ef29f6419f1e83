"""train_gpt.py: a small GPT learns characters, as training scripts do it: DataLoader with pinned memory, fused
AdamW, autocast, GradScaler, clipping, a schedule, torch.save.

    lockstep run train_gpt.py                              bfloat16; compared with the CPU's losses
    lockstep run train_gpt.py --dtype float16
    lockstep run train_gpt.py --compile reduce-overhead    Inductor's kernels, in CUDA graphs

Prints the losses and "works"; they are within BOUND of the CPU's, which rounds at other places."""

import argparse
import math
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

BOUND = 2e-3
LENGTH, BATCH, WIDTH, HEADS = 64, 8, 64, 4
with open(__file__) as file:
    TEXT = file.read() * 5
CHARACTERS = sorted(set(TEXT))
DATA = torch.tensor([CHARACTERS.index(each) for each in TEXT])


class Characters(Dataset):
    def __len__(self):
        return len(DATA) - LENGTH - 1

    def __getitem__(self, i):
        return DATA[i:i + LENGTH], DATA[i + 1:i + 1 + LENGTH]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, c = x.shape
        parts = self.qkv(self.before(x)).split(c, dim=2)
        heads = (each.view(b, t, HEADS, c // HEADS).transpose(1, 2) for each in parts)
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.mlp(self.after(x))


class GPT(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.tokens, self.places = nn.Embedding(len(CHARACTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(CHARACTERS), bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.head.weight, 0, 0.02)

    def forward(self, x, y):
        z = self.tokens(x) + self.places(torch.arange(x.size(1), device=x.device))
        logits = self.head(self.norm(self.blocks(z)))
        return F.cross_entropy(logits.view(-1, len(CHARACTERS)), y.view(-1))


def train(device, options):
    torch.manual_seed(1337)
    model = GPT(options.layers).to(device)
    run = torch.compile(model, mode=options.compile) if options.compile and device == "cuda" else model
    steps = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(steps, lambda i: 0.5 * (1 + math.cos(math.pi * i / options.steps)))
    dtype = getattr(torch, options.dtype)
    scaler = torch.amp.GradScaler(device, enabled=dtype == torch.float16)
    batches = iter(DataLoader(Characters(), BATCH, shuffle=True, pin_memory=device == "cuda", num_workers=2,
                              generator=torch.Generator().manual_seed(0)))
    losses = []
    for _ in range(options.steps):
        x, y = (each.to(device, non_blocking=True) for each in next(batches))
        with torch.autocast(device, dtype):
            loss = run(x, y)
        scaler.scale(loss).backward()
        scaler.unscale_(steps)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(steps)
        scaler.update()
        steps.zero_grad(set_to_none=True)
        schedule.step()
        losses.append(loss.item())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        torch.save({"model": model.state_dict(), "steps": steps.state_dict()}, path)
        again = GPT(options.layers).to(device)
        again.load_state_dict(torch.load(path, map_location=device)["model"])
    assert torch.equal(again(x, y), model(x, y))
    return losses


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--dtype", default="bfloat16")
    words.add_argument("--compile", metavar="MODE")
    words.add_argument("--layers", type=int, default=2)
    words.add_argument("--steps", type=int, default=8)
    options = words.parse_args()
    found, cpu = train("cuda", options), train("cpu", options)
    worst = max(abs(a - b) for a, b in zip(found, cpu))
    print(*(f"{each:.4f}" for each in found), f"off by {worst:.1e}")
    assert worst < BOUND and found[-1] < found[0] - 0.05
    print("works")
