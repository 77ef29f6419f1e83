"""torch_devices.py: tensors of the CPU beside those of the GPU, and products of integers: refused where a GPU's
operators refuse them, with PyTorch's message, and taken where they are taken."""

import torch
import torch.nn as nn
import torch.nn.functional as F

there, here = torch.randn(4, 4, device="cuda"), torch.randn(4, 4)
zeros, some = torch.zeros(1, 4, dtype=torch.long), torch.tensor([0, 1])
number = torch.tensor(2.0)

REFUSED = {
    "sum": lambda: there + here, "number of the GPU": lambda: here + there.sum(), "in place": lambda: there.add_(here),
    "comparison": lambda: there == here, "matmul": lambda: here @ there, "bmm": lambda: there[None] @ here[None],
    "dot": lambda: there[0].dot(here[0]), "cat": lambda: torch.cat([there, here]),
    "stack": lambda: torch.stack([here, there]), "where": lambda: torch.where(here > 0, there, there),
    "masked_fill": lambda: there.masked_fill(here > 0, 0.0), "gather": lambda: there.gather(0, zeros),
    "scatter": lambda: there.scatter(0, zeros, 1.0), "index_select": lambda: there.index_select(0, some),
    "embedding": lambda: F.embedding(some, there), "weights left on the CPU": lambda: nn.Linear(4, 4)(there),
    "batch norm": lambda: nn.BatchNorm1d(4)(there), "layer norm": lambda: F.layer_norm(there, (4,), here[0]),
    "convolution": lambda: F.conv2d(there.view(1, 1, 4, 4), torch.ones(1, 1, 3, 3)),
    "cross entropy": lambda: F.cross_entropy(there, zeros[0]), "mse": lambda: F.mse_loss(there, here),
}
INTEGERS = {
    "mm": lambda x: x @ x, "mv": lambda x: x @ x[0], "dot": lambda x: x[0].dot(x[0]), "bmm": lambda x: x[None] @ x[None],
    "addmm": lambda x: torch.addmm(x, x, x), "einsum": lambda x: torch.einsum("ij,jk->ik", x, x),
}


def message(error, function, *words):
    try:
        function(*words)
    except error as refused:
        return str(refused)
    return "accepted"


def taken():
    """None of this mixes devices in a way that a GPU minds."""
    x = there.clone()
    x + number, number * x, x // number, x**number, torch.where(x > 0, x, number), x.masked_fill(x > 0, number)
    x.fill_(number), x[some], x[here > 0], x.index_put_((some,), number), x.copy_(here), here.clone().copy_(x)
    x[some] = number
    x[here > 0] = 1.0
    torch._foreach_mul_([x], number)
    nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 8, device="cuda"), torch.tensor([5, 3, 2]))
    F.ctc_loss(torch.randn(5, 2, 4, device="cuda").log_softmax(2), torch.ones(2, 3, dtype=torch.long, device="cuda"),
               torch.tensor([5, 5]), torch.tensor([3, 3]))
    layer = nn.Linear(4, 4).cuda()
    layer(x).sum().backward()
    for options in {}, {"fused": True}, {"foreach": True}, {"capturable": True, "lr": torch.tensor(0.1)}:
        torch.optim.AdamW(layer.parameters(), **options).step()
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(layer(x).sum()).backward()
    scaler.step(torch.optim.SGD(layer.parameters(), 0.1))
    scaler.update()


for name, function in REFUSED.items():
    said = message(RuntimeError, function)
    assert "Expected all tensors to be on the same device" in said and "cuda:0" in said, (name, said)
for dtype, kind in (torch.int64, "Long"), (torch.int32, "Int"), (torch.bool, "Bool"):
    for name, function in INTEGERS.items():
        said = message(NotImplementedError, function, torch.ones(4, 4, device="cuda").to(dtype))
        assert f"not implemented for '{kind}'" in said, (name, said)
taken()
print("works")
