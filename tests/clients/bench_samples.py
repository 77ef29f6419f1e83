"""bench_samples.py: what do_bench makes of a part of the blocks is the time of all, whatever they share.

    lockstep run bench_samples.py         the few whose whole count takes no more than seconds
    lockstep run bench_samples.py all     the table of docs/clients.md: minutes
"""

import sys
import time

import lockstep_bench
import torch
import triton
import triton.language as tl

BOUND = 0.05
f32, f16 = torch.float32, torch.float16


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) * 2, i < n)


@triton.jit
def softmax(x, out, rows, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        value = tl.load(x + row * n + i, i < n, -float("inf"))
        value = tl.exp(value - tl.max(value, 0))
        tl.store(out + row * n + i, value / tl.sum(value, 0), i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, i < n, 0.0)
    centred = tl.where(i < n, value - tl.sum(value, 0) / n, 0.0)
    value = centred * tl.rsqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    tl.store(out + row * n + i, value * tl.load(weight + i, i < n) + tl.load(bias + i, i < n), i < n)


@triton.jit
def stencil(x, out, width, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + 1
    at, inside = x + (tl.program_id(1) + 1) * width + column, column < width - 1
    value = tl.load(at - 1, inside) + tl.load(at + 1, inside) + tl.load(at - width, inside) + tl.load(at + width, inside)
    tl.store(out + (tl.program_id(1) + 1) * width + column, value * 0.25, inside)


@triton.jit
def transpose(x, out, n, BLOCK: tl.constexpr):
    i, j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + j[None, :] * n + i[:, None], tl.load(x + i[:, None] * n + j[None, :]))


@triton.jit
def gather(x, index, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + tl.load(index + i)))


@triton.jit
def embed(table, tokens, out, SIZE: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, SIZE)
    tl.store(out + row * SIZE + i, tl.load(table + tl.load(tokens + row) * SIZE + i))


@triton.jit
def column_sums(x, out, rows, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(rows):
        total += tl.load(x + row * n + i)
    tl.store(out + i, total)


@triton.jit
def ragged_sums(x, starts, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total, end = tl.zeros((BLOCK,), tl.float32), tl.load(starts + row + 1)
    for first in range(tl.load(starts + row), end, BLOCK):
        i = first + tl.arange(0, BLOCK)
        total += tl.load(x + i, i < end, 0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def cross_entropy(x, targets, out, n, BLOCK: tl.constexpr):
    row, most, total = tl.program_id(0), -float("inf"), 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + i, i < n, -float("inf")).to(tl.float32)
        new = tl.maximum(most, tl.max(value, 0))
        total, most = total * tl.exp(most - new) + tl.sum(tl.exp(value - new), 0), new
    tl.store(out + row, most + tl.log(total) - tl.load(x + row * n + tl.load(targets + row)).to(tl.float32))


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr):  # atomics: all blocks are counted
    tl.atomic_add(out + tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 1)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    number, in_group = tl.program_id(0), 8 * tl.cdiv(N, BN)
    first = number // in_group * 8
    rows = min(tl.cdiv(M, BM) - first, 8)
    row, column = first + number % in_group % rows, number % in_group // rows
    i, j, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        total = tl.dot(tl.load(a + (i % M)[:, None] * K + at + k[None, :], k[None, :] < K - at, 0.0),
                       tl.load(b + (at + k)[:, None] * N + (j % N)[None, :], k[:, None] < K - at, 0.0), total)
    tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty), (i[:, None] < M) & (j[None, :] < N))


@triton.jit
def attention(q, k, v, out, n, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SIZE: tl.constexpr):
    i, d, head = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, SIZE), tl.program_id(1) * n * SIZE
    query, total = tl.load(q + head + i[:, None] * SIZE + d), tl.zeros((BM, SIZE), tl.float32)
    most, weight = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * BM if CAUSAL else n, BN):
        j = first + tl.arange(0, BN)
        score = tl.dot(query, tl.load(k + head + j[None, :] * SIZE + d[:, None])) * 0.1
        if CAUSAL:
            score = tl.where(i[:, None] >= j[None, :], score, -float("inf"))
        new = tl.maximum(most, tl.max(score, 1))
        part, less = tl.exp2(score - new[:, None]), tl.exp2(most - new)
        weight, most = weight * less + tl.sum(part, 1), new
        total = tl.dot(part.to(tl.float16), tl.load(v + head + j[:, None] * SIZE + d), total * less[:, None])
    tl.store(out + head + i[:, None] * SIZE + d, (total / weight[:, None]).to(tl.float16))


def ones(*shape, dtype=f32):
    return torch.ones(*shape, device="cuda").to(dtype)


def below(most, *shape):
    return torch.randint(0, most, shape).cuda()


def product(M, N, K, BM, BN, BK, dtype=f16, **options):
    a, b, c = ones(M, K, dtype=dtype), ones(K, N, dtype=dtype), ones(M, N, dtype=f16)
    return matmul, (triton.cdiv(M, BM) * triton.cdiv(N, BN),), (a, b, c, M, N, K, BM, BN, BK), options


def heads(count, n, causal):
    return attention, (n // 128, count), (*(ones(count, n, 64, dtype=f16) for _ in range(4)), n, causal, 128, 64, 64)


def ragged():
    starts = torch.zeros(4097, dtype=torch.int32)
    starts[1:] = (torch.rand(4096) ** 8 * 32768).int().cumsum(0)
    return ragged_sums, (4096,), (ones(int(starts[-1])), starts.cuda(), ones(4096), 256)


torch.manual_seed(0)
million = 1 << 20
FEW = {
    "layer norm, 4096 x 4000": lambda: (layer_norm, (4096,), (ones(4096, 4000), ones(4000), ones(4000), ones(4096, 4000), 4000, 4096)),
    "softmax, one block after another": lambda: (softmax, (528,), (ones(8192, 1024), ones(8192, 1024), 8192, 1024, 1024)),
    "stencil, 2050 x 4098": lambda: (stencil, (4, 2048), (ones(2050, 4098), ones(2050, 4098), 4098, 1024)),
    "embedding of 32768 x 512": lambda: (embed, (32768,), (ones(8192, 512), below(8192, 32768), ones(32768, 512), 512)),
    "product, 8192 x 512 x 512": lambda: product(8192, 512, 512, 128, 128, 64, num_warps=8),
    "product of f32, 1024 cubed": lambda: product(1024, 1024, 1024, 64, 64, 32, f32),
    "attention, causal, 2048": lambda: heads(16, 2048, True),
}
MORE = {
    "scale, 16M": lambda: (scale, (16384,), (ones(16 * million), ones(16 * million), 16 * million, 1024)),
    "transpose, 4096 x 4096": lambda: (transpose, (64, 64), (ones(4096, 4096), ones(4096, 4096), 4096, 64)),
    "gather, 4M, at random": lambda: (gather, (4096,), (ones(4 * million), below(4 * million, 4 * million), ones(4 * million), 1024)),
    "gather, 4M, from 4 MB": lambda: (gather, (4096,), (ones(million), below(million, 4 * million), ones(4 * million), 1024)),
    "sums of columns, 2048 x 65536": lambda: (column_sums, (512,), (ones(2048, 65536), ones(65536), 2048, 65536, 128)),
    "sums of ragged rows": ragged,
    "cross entropy, 1024 x 32000": lambda: (cross_entropy, (1024,), (ones(1024, 32000, dtype=f16), below(32000, 1024), ones(1024), 32000, 4096)),
    "histogram, 4M": lambda: (histogram, (4096,), (below(256, 4 * million), ones(256, dtype=torch.int32), 1024)),
    "product, 2048 cubed": lambda: product(2048, 2048, 2048, 128, 128, 64, num_warps=8),
    "product, 4096 cubed": lambda: product(4096, 4096, 4096, 128, 256, 64, num_warps=8),
    "product, 1920 x 1408 x 1000": lambda: product(1920, 1408, 1000, 128, 256, 64, num_warps=8),
    "product, 16 x 8192 x 4096": lambda: product(16, 8192, 4096, 16, 64, 128),
    "product of fp8, 2048 cubed": lambda: product(2048, 2048, 2048, 128, 128, 128, torch.float8_e5m2, num_warps=8),
    "attention, 1024": lambda: heads(16, 1024, False),
    "attention, 256 heads": lambda: heads(256, 1024, False),
}


def timed(launch, sample):
    lockstep_bench.SAMPLE, lockstep_bench.REST = sample, 0
    torch.cuda.synchronize()
    began = time.time()
    return 1e3 * triton.testing.do_bench(launch), time.time() - began


default = lockstep_bench.SAMPLE
for name, make in {**FEW, **(MORE if sys.argv[1:] else {})}.items():
    if sys.argv[1:] not in ([], ["all"], [name]):
        continue
    kernel, grid, words, *options = make()

    def launch():
        kernel[grid](*words, **dict(*options))

    kernel.warmup(*words, grid=grid, **dict(*options))
    (whole, long), (part, short) = timed(launch, 0), timed(launch, default)
    off = part / whole - 1
    print(f"| {name} | {whole:.1f} | {part:.1f} | {100 * off:+.1f} % | {long:.1f} | {short:.1f} |", flush=True)
    assert abs(off) <= BOUND, name
print("works")
