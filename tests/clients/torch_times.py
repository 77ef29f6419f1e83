"""torch_times.py: PyTorch's eager operators take modelled time, by roofline, wherever a program looks at it."""

import torch
import torch.utils.benchmark
import triton

GPU = torch.device("cuda")


def milliseconds(function, stream=None):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record(stream)
    function()
    end.record(stream)
    end.synchronize()
    return begin.elapsed_time(end)


def near(value, wanted, part=0.15):
    assert abs(value - wanted) <= part * wanted, (value, wanted)


# An H200 at 80 % of its datasheet: 989 and 67 TFLOP/s, 4.8 TB/s; PCIe 5.
n = 1024
half, single, double = (torch.ones(n, n, device=GPU, dtype=dtype) for dtype in (
    torch.float16, torch.float32, torch.float64))
base = 2.5e-3
product = 2 * n**3 / 0.8 * 1e3
near(milliseconds(lambda: half @ half), base + product / 989e12)
near(milliseconds(lambda: single @ single), base + product / 67e12)
near(milliseconds(lambda: double @ double), base + product / 67e12)
torch.backends.cuda.matmul.allow_tf32 = True
near(milliseconds(lambda: single @ single), base + product / 494e12)
torch.backends.cuda.matmul.allow_tf32 = False
x = torch.ones(1 << 22, device=GPU)
size = x.nbytes / (0.8 * 4.8e12) * 1e3
near(milliseconds(lambda: x + x), base + 2 * size)
near(milliseconds(lambda: x.add_(1)), base + 2 * size)
near(milliseconds(x.zero_), base + size)
near(milliseconds(lambda: torch.add(x, x.flip(0)[0], out=x)), 3 * base + 6 * size, 0.4)
near(milliseconds(lambda: [x.relu_() for _ in range(10)]), 10 * (base + 2 * size))
table = torch.ones(1 << 16, 64, device=GPU)
rows = torch.arange(128, device=GPU)
assert milliseconds(lambda: table[rows]) < 1.2 * base  # not the whole table
assert milliseconds(lambda: table.index_add_(0, rows, table[:128])) < 2.2 * base
assert milliseconds(lambda: x.view(-1, 64).t()[:3]) == 0  # views take none
assert milliseconds(lambda: torch.empty(0, device=GPU) + 1) == 0
assert milliseconds(lambda: x[:1].expand(1 << 22).sum()) < 1.2 * base  # one number in memory
image, weight = torch.ones(1, 64, 32, 32, device=GPU), torch.ones(64, 64, 3, 3, device=GPU)
torch.backends.cudnn.allow_tf32 = False
near(milliseconds(lambda: torch.conv2d(image, weight)), base + 2 * 30 * 30 * 9 * 64 * 64 / (0.8 * 67e12) * 1e3, 0.3)
host = torch.ones(1 << 22)
link = milliseconds(lambda: host.to(GPU))
assert 0.2 < link < 0.5, link
near(milliseconds(x.cpu), link)
assert 0 < milliseconds(x[0].item) < 4e-3

# The same wherever it is looked at.
matmul = milliseconds(lambda: half @ half)
near(triton.testing.do_bench(lambda: half @ half), matmul)
timer = torch.utils.benchmark.Timer("a @ a", "a = torch.ones(1024, 1024, device='cuda', dtype=torch.half)")
for measured in timer.timeit(100), timer.blocked_autorange():
    near(1e3 * measured.median, matmul)
on_host = torch.utils.benchmark.Timer("a + a", globals={"a": torch.ones(4)})
assert len(on_host.timeit(20).raw_times) == 1 and on_host.timeit(20).number_per_run == 20
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(4):
        out = half @ half
near(milliseconds(graph.replay), 4 * matmul, 0.4)
assert out[0, 0] == n

# In order with what kernels take: on one stream after each other, on two beside each other.
side = torch.cuda.Stream()
torch.cuda.synchronize()


def twice(other):
    single @ single
    with torch.cuda.stream(other):
        for _ in range(2):
            half @ half
    torch.cuda.current_stream().wait_stream(other)


one_after_another = milliseconds(lambda: twice(torch.cuda.current_stream()))
near(one_after_another, milliseconds(lambda: single @ single) + 2 * matmul)
print("works")
