"""halves.py: operators on halves round once, as a GPU's do: the CPU's own sums of halves do not."""

import torch
import torch.nn.functional as F

aten = torch.ops.aten
ROWS = 3001
zeros = torch.zeros(ROWS, dtype=torch.long)


def some(*shape):
    return torch.rand(*shape) * 1.5 + 0.2


# Inputs; what is done with them.
CASES = {
    "log_softmax": ([torch.randn(64, 4096)], lambda x: F.log_softmax(x, 1)),
    "log_softmax backward": ([some(2, ROWS), -some(2, ROWS)],
                             lambda g, y: aten._log_softmax_backward_data(g, y, 1, y.dtype)),
    "softmax backward": ([some(2, ROWS), some(2, ROWS) / ROWS],
                         lambda g, y: aten._softmax_backward_data(g, y, 1, y.dtype)),
    "nll_loss": ([-some(ROWS, 8)], lambda x: F.nll_loss(x, zeros.to(x.device))),
    "nll_loss, weighted": ([-some(ROWS, 8), some(8)],
                           lambda x, w: F.nll_loss(x, zeros.to(x.device), weight=w)),
    "nll_loss2d": ([-some(4, 8, 32, 32)], lambda x: F.nll_loss(
        x, torch.zeros(4, 32, 32, dtype=torch.long, device=x.device), reduction="sum")),
    "embedding backward": ([some(ROWS, 8)], lambda g: aten.embedding_dense_backward(
        g, zeros.to(g.device), 4, -1, False)[:1]),
    "index_put": ([some(ROWS, 8)], lambda x: torch.zeros(2, 8, dtype=x.dtype, device=x.device).index_put(
        (zeros.to(x.device),), x, accumulate=True)[:1]),
    "prod": ([some(64) * 0.1 + 0.95], torch.prod),
    "cumprod": ([some(64) * 0.1 + 0.95], lambda x: x.cumprod(0)),
    "fold": ([some(1, 256, 49)], lambda x: F.fold(x, (22, 22), 16)),
    "sum": ([some(ROWS)], torch.sum),
    "product of matrices": ([some(4, ROWS), some(ROWS, 4)], torch.matmul),
    "layer_norm": ([some(2, ROWS)], lambda x: F.layer_norm(x, (ROWS,)) + 4),
}

torch.manual_seed(0)
for name, (inputs, function) in CASES.items():
    for dtype in (torch.bfloat16, torch.float16):
        halves = [each.to(dtype) for each in inputs]
        found = function(*(each.cuda() for each in halves)).cpu().double()
        exact = function(*(each.double() for each in halves))
        off = ((found - exact).abs() / exact.abs().clamp_min(1e-3)).max().item() / torch.finfo(dtype).eps
        most = 1.1 if name == "layer_norm" else 0.55  # which is rounded before 4 is added, too
        assert off < most, f"{name} of {dtype} is off by {off:.2f} units"
a, b, c = (torch.randn(67, 67).half() for _ in range(3))
A, B, C = (each.cuda() for each in (a, b, c))
product = a.double() @ b.double()
FORMS = {
    "out=": (torch.mm(A, B, out=torch.empty(0, dtype=A.dtype, device="cuda")), product),
    "out= with steps": (torch.mm(A, B, out=torch.empty(67, 134, dtype=A.dtype, device="cuda")[:, ::2]), product),
    "addmm": (torch.addmm(C[0], A, B, beta=0.5, alpha=2), 0.5 * c[0].double() + 2 * product),
    "addmm_": (C.clone().addmm_(A, B), c.double() + product),
    "bmm": (torch.bmm(A[None], B[None])[0], product),
    "baddbmm": (torch.baddbmm(C[None], A[None], B[None])[0], c.double() + product),
    "baddbmm_": (C[None].clone().baddbmm_(A[None], B[None])[0], c.double() + product),
    "with a function": (torch._addmm_activation(C[0], A, B), (c[0].double() + product).relu()),
    "linear": (F.linear(A, B.t(), C[0]), c[0].double() + product),
}
for name, (found, exact) in FORMS.items():
    assert found.dtype == torch.float16 and found.shape == exact.shape, name
    off = ((found.cpu().double() - exact).abs() / exact.abs().clamp_min(1)).max().item() / torch.finfo(found.dtype).eps
    assert off < 0.55, f"{name} is off by {off:.2f} units"
for function in (torch.softmax, torch.log_softmax):
    assert function(torch.ones(2, 8, device="cuda").half(), 1, dtype=torch.float32).dtype == torch.float32
print("works")
