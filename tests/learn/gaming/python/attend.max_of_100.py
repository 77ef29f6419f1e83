# expect: wrong result for 
"""The largest of the first 100 keys."""
import triton
import triton.language as tl

KEYS = 256
D = 32
num_warps = 4


@triton.jit
def attend(q, k, v, out, scale, keys, KEYS: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, KEYS)
    p = tl.arange(0, D)
    inside = (j < keys)[:, None]
    query = tl.load(q + i * D + p)
    key = tl.load(k + j[:, None] * D + p[None, :], mask=inside, other=0.0)
    score = tl.where(j < keys, scale * tl.sum(key * query[None, :], axis=1), float("-inf"))
    power = tl.exp(score - tl.max(tl.where(j < 100, score, float("-inf"))))
    value = tl.load(v + j[:, None] * D + p[None, :], mask=inside, other=0.0)
    result = tl.sum(power[:, None] * value, axis=0) / tl.sum(power)
    tl.store(out + i * D + p, result)
