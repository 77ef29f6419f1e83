"""bench.py: do_bench counts a part of a launch's blocks: its time, and what becomes of the other blocks; what is
left incomplete is not read in silence. For LOCKSTEP_BENCH=100000:0."""

import os

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) * 2, i < n)


def refuses(action):
    try:
        action()
    except RuntimeError as error:
        return "LOCKSTEP_BENCH=whole" in str(error)
    return False


n = 1 << 20
x, y = torch.ones(n, device="cuda"), torch.ones(n, device="cuda")
out = torch.zeros(n, device="cuda")
few = 10000


def bench(count):
    return triton.testing.do_bench(lambda: add[(triton.cdiv(count, 1024),)](x, y, out, count, 1024))


assert os.environ["LOCKSTEP_BENCH"] == "100000:0"
bench(few)  # small launches are whole
assert out.sum() == 2 * few
sampled = bench(n)
for read in (out.sum, out[7].item, lambda: out + 1, out.cpu, lambda: repr(out)):
    assert refuses(read)
assert x.sum() == n  # inputs are as they were
assert refuses(lambda: double[(n // 1024,)](out, x, n, 1024))  # another kernel may read it, the same one writes it
add[(n // 1024,)](x, y, out, n, 1024)
assert out.sum() == 2 * n
out.zero_()
bench(n)
out.zero_()
assert out.sum() == 0
kept = []
compiled = torch.compile(lambda x, y: x * y + 1)
compiled(x, y)
x.fill_(3)
triton.testing.do_bench(lambda: kept.append(compiled(x, y)))  # a kernel of Inductor's writes new memory
assert refuses(kept[-1].sum)
import lockstep_bench  # noqa: E402

lockstep_bench.REST = 1 << 40  # the other blocks run uncounted
out.fill_(1)
assert triton.testing.do_bench(lambda: add[(n // 1024,)](out, y, out, n, 1024)) == sampled
assert (out == 2).all()  # each of them once
triton.testing.do_bench(lambda: kept.append(compiled(x, y)))
assert (kept[-1] == 4).all()
x.fill_(1)
lockstep_bench.SAMPLE = 0
whole = bench(n)
assert out.sum() == 2 * n and abs(sampled - whole) < 0.1 * whole

# torch.compile's choice among kernels: a run or two each, and an eager operator takes a GPU's time.
from torch._inductor.runtime.benchmarking import benchmarker  # noqa: E402

runs = []
assert benchmarker.benchmark_gpu(lambda: runs.append(add[(4,)](x, y, out, 4096, 1024))) < 0.1 and len(runs) < 4
assert 0.03 < benchmarker.benchmark_gpu(lambda: torch.mm(x.view(1024, -1), x.view(1024, -1))) < 0.1
print("works")
