"""bench.py: do_bench counts a part of a launch's blocks: its time, and what becomes of the other blocks; what is
left incomplete is not read in silence. For LOCKSTEP_BENCH=100000:0."""

import os

import torch
import triton
import triton.language as tl

import lockstep_bench


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
# Once more, but into what it also reads, in another grid, or of another argument: it is not made whole by that.
bench(n)
for again in (lambda: add[(few // 1024,)](x, y, out, few, 1024), lambda: add[(n // 1024,)](out, y, out, n, 1024),
              lambda: add[(n // 1024,)](out, y, x, n, 1024)):
    assert refuses(again)
triton.testing.do_bench(lambda: add[(n // 1024,)](out, y, out, n, 1024))
assert refuses(lambda: add[(n // 1024,)](out, y, out, n, 1024))
out.zero_()
# What is computed from it is incomplete, too: by operators, and by small launches.
kept = []


def derived():
    add[(n // 1024,)](x, y, out, n, 1024)
    kept.append(out[:8] * 2)
    kept.append(torch.zeros(8, device="cuda"))
    double[(1,)](out, kept[-1], 8, 1024)


triton.testing.do_bench(derived)
assert refuses(kept[0].sum) and refuses(kept[1].sum)
for leak in (out.sum, out.nonzero, out.cpu):  # the host learns nothing of it inside, either
    assert refuses(lambda: triton.testing.do_bench(lambda: (add[(n // 1024,)](x, y, out, n, 1024), leak().max().item())))
out.zero_()
kept.clear()

# Pointers in a table: the memory is no argument of the kernel's.
@triton.jit
def by_table(table, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(tl.load(table).to(tl.pointer_type(tl.float32)) + i, i.to(tl.float32), i < n)


table = torch.tensor([out.data_ptr()], device="cuda")
triton.testing.do_bench(lambda: by_table[(n // 1024,)](table, n, 1024))
assert refuses(out.sum) and table[0] == out.data_ptr()
out.zero_()


# All launches of a benchmark function serve its times only.
reported = []


@triton.testing.perf_report(triton.testing.Benchmark(
    x_names=["size"], x_vals=[few, n], line_arg="way", line_vals=["read", "kept"], line_names=["read", "kept"],
    plot_name="", args={}))
def report(size, way):
    sums = torch.zeros(size, device="cuda")
    add[(triton.cdiv(size, 1024),)](x, y, sums, size, 1024)
    if way == "read":
        reported.append((size, refuses(lambda: sums.sum().item())))
    twice = torch.empty_like(sums)
    if way == "kept":
        reported.append((sums, twice))
    return triton.testing.do_bench(lambda: double[(triton.cdiv(size, 1024),)](sums, twice, size, 1024))


try:
    import matplotlib, pandas  # noqa: E401, F401
except ImportError:  # what the report is drawn and printed with
    for size in few, n:
        for way in "read", "kept":
            lockstep_bench._report(report.fn)(size, way)
else:
    report.run()
assert reported[0] == (few, False) and reported[2] == (n, True)
assert reported[1][0].sum() == 2 * few and reported[1][1].sum() == 4 * few
assert all(refuses(each.sum) for each in reported[3])
reported.clear()

compiled = torch.compile(lambda x, y: x * y + 1)
compiled(x, y)
x.fill_(3)
triton.testing.do_bench(lambda: kept.append(compiled(x, y)))  # a kernel of Inductor's writes new memory
assert refuses(kept[-1].sum)

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

# Launches and copies that PyTorch and Triton do not make: of a graph, and by the driver's API. Inside a section
# they are as others; outside they fail, which is the end of the context.
import ctypes  # noqa: E402

lockstep_bench.SAMPLE, lockstep_bench.REST = 100000, 0
graph, twice = torch.cuda.CUDAGraph(), torch.zeros(n, device="cuda")
double[(n // 1024,)](out, twice, n, 1024)
with torch.cuda.graph(graph):
    double[(n // 1024,)](out, twice, n, 1024)
triton.testing.do_bench(lambda: (add[(n // 1024,)](x, y, out, n, 1024), graph.replay()))
assert refuses(twice.sum) and refuses(out.sum)
twice.zero_()
triton.testing.do_bench(graph.replay)  # given what is incomplete since the section before
assert refuses(twice.sum)
twice.zero_()
out.zero_()
graph.replay()
assert twice.sum() == 0
bench(n)
driver, word = ctypes.CDLL("libcuda.so.1"), ctypes.c_float()
driver.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
assert driver.cuMemcpyDtoH_v2(ctypes.byref(word), x.data_ptr(), 4) == 0 and word.value == 1
reading = driver.cuMemcpyDtoH_v2 if os.environ.get("BENCH_ENDS") == "copy" else lambda *_: graph.replay()
try:
    assert reading(ctypes.byref(word), out.data_ptr() + 4 * n - 4, 4)
except (AssertionError, RuntimeError):
    pass
assert driver.cuCtxSynchronize() == 401
print("works", flush=True)
os._exit(0)
