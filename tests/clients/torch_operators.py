"""torch_operators.py: operators of PyTorch on a simulated GPU that are not simply the CPU's.

    lockstep run tests/clients/torch_operators.py

Views with a conjugate or negative bit, tensors of zeros without memory, transforms of halves, products of 8-bit
floats with scales, SyncBatchNorm and collectives with NCCL; each compared with the CPU or with plain products.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.func import hessian, jvp


def close(found, wanted, bound=1e-5):
    torch.testing.assert_close(found.cpu(), wanted.cpu(), rtol=bound, atol=bound)


def lazy_bits():
    """Products, transforms, copies and parts of a view that is conjugated or negated only by a bit."""
    x = torch.randn(4, 6, dtype=torch.complex64)
    for run in (
        lambda x: x.conj() @ x.t(), lambda x: x.mH.contiguous(), lambda x: x.conj().imag * 2,
        lambda x: torch.fft.irfft(x.conj()), torch.fft.hfft, lambda x: torch.dot(x[0].conj(), x[1]),
        lambda x: torch._neg_view(x) + 1, lambda x: torch.cat([x.conj(), x]), lambda x: x.conj().clone(),
        lambda x: torch.empty_like(x).copy_(x.conj()), lambda x: torch.empty_like(x).conj().copy_(x),
        lambda x: torch.linalg.solve(x[:, :4].conj(), x[:, :1]), lambda x: x.conj().to(torch.complex128),
    ):
        close(run(x.cuda()), run(x), 1e-4)
    assert x.cuda().conj()[0, 0].item() == x.conj()[0, 0].item()


def zeros_without_memory():
    x = torch.randn(5)
    close(hessian(lambda x: (x.sin() ** 2).sum())(x.cuda()), hessian(lambda x: (x.sin() ** 2).sum())(x))
    close(jvp(lambda x: x.round() * 2, (x.cuda(),), (x.cuda(),))[1], torch.zeros(5))


def transforms_of_halves():
    x = torch.randn(4, 16)
    close(torch.fft.fft(x.cuda().half()).real.float(), torch.fft.fft(x.half().float()).real, 2e-2)
    close(torch.fft.irfft(torch.fft.rfft(x.cuda().half())).float(), x, 2e-2)


def scaled_products():
    a, b = (torch.randn(n, 384).cuda().to(torch.float8_e4m3fn) for n in (256, 128))
    exact, half = a.float() @ b.float().t(), torch.bfloat16
    two = torch.tensor(2.0, device="cuda")
    close(torch._scaled_mm(a, b.t(), two, two, out_dtype=half).float(), 4 * exact, 1e-2)
    lines, columns = torch.rand(256, 1, device="cuda"), torch.rand(1, 128, device="cuda")
    bias = torch.ones(128, device="cuda", dtype=half)
    close(torch._scaled_mm(a, b.t(), lines, columns, bias=bias, out_dtype=half).float(),
          exact * lines * columns + 1, 1e-2)
    left, right = torch.rand(256, 3, device="cuda"), torch.rand(3, 1, device="cuda")
    close(torch._scaled_mm(a, b.t(), left, right, out_dtype=half).float(),
          (a.float() * left.repeat_interleave(128, 1)) @ (b.float().t() * right.repeat_interleave(128, 0)), 1e-2)
    groups = torch.randn(2, 64, 384).cuda().to(torch.float8_e4m3fn).transpose(1, 2)
    ends = torch.tensor([64, 256], device="cuda", dtype=torch.int32)
    found = torch._scaled_grouped_mm(a, groups, lines.flatten(), torch.ones(2, 64, device="cuda"), offs=ends,
                                     out_dtype=half).float()
    close(found[64:], (a.float() * lines)[64:] @ groups[1].float(), 1e-2)


def cudnn_stays_off():
    """As scripts turn it on that need not."""
    torch.backends.cudnn.enabled = torch.backends.cudnn.benchmark = True
    with torch.backends.cudnn.flags(enabled=True):
        assert nn.LSTM(4, 4).cuda()(torch.randn(2, 3, 4, device="cuda"))[0].shape == (2, 3, 4)


def collectives():
    """One process; torch_ranks.py has two."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    assert dist.get_backend() == "nccl"
    x = torch.ones(4, device="cuda")
    dist.all_reduce(x, op=dist.ReduceOp.AVG)
    assert x.tolist() == [1] * 4
    plain, synced = nn.BatchNorm2d(4).cuda(), nn.SyncBatchNorm(4).cuda()
    x, grad = (torch.randn(3, 4, 5, 5, device="cuda") for _ in range(2))
    for model in plain, synced:
        given = x.clone().requires_grad_()
        model(given).backward(grad)
        model.of_input = given.grad
    close(synced.of_input, plain.of_input)
    close(synced.weight.grad, plain.weight.grad, 1e-4)
    close(synced.running_var, plain.running_var)
    dist.destroy_process_group()


if __name__ == "__main__":
    lazy_bits()
    zeros_without_memory()
    transforms_of_halves()
    scaled_products()
    cudnn_stays_off()
    collectives()
    print("works")
