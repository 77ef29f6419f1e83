# expect: wrong result for 
"""The largest does not follow after two tiles."""
import triton
import triton.language as tl

BM = 16
BN = 32
D = 32
num_warps = 4


@triton.jit
def flash(q, k, v, out, lse, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    p = tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + p[None, :], mask=(i < n)[:, None], other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum(n, tl.program_id(0) * BM + BM), BN):
        j = start + tl.arange(0, BN)
        inside = (j < n)[:, None]
        key = tl.load(k + j[:, None] * D + p[None, :], mask=inside, other=0.0)
        value = tl.load(v + j[:, None] * D + p[None, :], mask=inside, other=0.0)
        score = scale * tl.dot(query, tl.trans(key), input_precision="ieee")
        score = tl.where((j < n)[None, :] & (j[None, :] <= i[:, None]), score, float("-inf"))
        higher = tl.where(start < 64, tl.maximum(top, tl.max(score, axis=1)), top)
        power = tl.exp(score - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(power, axis=1)
        result = tl.dot(power, value, result * shrink[:, None], input_precision="ieee")
        top = higher
    tl.store(out + i[:, None] * D + p[None, :], result / total[:, None], mask=(i < n)[:, None])
    tl.store(lse + i, top + tl.log(total), mask=i < n)
