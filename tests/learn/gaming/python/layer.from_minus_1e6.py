# expect: wrong result for 
"""Minus a million in place of minus infinity."""
import triton
import triton.language as tl

KEYS = 16
num_warps = 4


@triton.jit
def value_of(code):  # E2M1
    size = code & 7
    value = tl.where(size < 4, size * 0.5, tl.where(size < 7, size - 2, 6).to(tl.float32))
    return tl.where((code & 8) != 0, -value, value)


@triton.jit
def times(vector, matrix):  # vector: element p in row p; the result has an element for each column
    p = tl.arange(0, 32)
    return tl.sum(vector[:, None] * tl.load(matrix + p[:, None] * 32 + p[None, :]), axis=0)


@triton.jit
def normed(vector):  # divided by the root of the mean of its squares
    return vector / tl.sqrt(tl.sum(vector * vector, axis=0) / 32 + 0.00001)


@triton.jit
def layer(x, wq, wo, w1, w2, kq, ks, vq, vs, out, scale, keys, KEYS: tl.constexpr):
    c = tl.arange(0, 32)
    mine = tl.load(x + tl.program_id(0) * 32 + c)
    h = normed(mine)
    q = times(h, wq) * scale
    m = -1e6
    l = 0.0
    o = tl.zeros((32,), tl.float32)
    for start in range(0, keys, KEYS):
        j = start + tl.arange(0, KEYS)
        inside = (j < keys)[:, None]
        key = tl.load(kq + j[:, None] * 32 + c[None, :], mask=inside, other=0.0).to(tl.float32)
        score = tl.sum(key * q[None, :], axis=1) * tl.load(ks + j, mask=j < keys, other=0.0)
        score = tl.where(j < keys, score, -1e6)
        byte = tl.load(vq + j[:, None] * 16 + tl.arange(0, 16)[None, :], mask=inside, other=0).to(tl.int32)
        value = tl.reshape(tl.join(value_of(byte & 15), value_of(byte >> 4)), (KEYS, 32))
        value *= tl.load(vs + j[:, None] * 2 + c[None, :] // 16, mask=inside, other=0.0).to(tl.float32)
        larger = tl.maximum(m, tl.max(score, axis=0))
        w = tl.exp(score - larger)
        old = tl.exp(m - larger)
        l = l * old + tl.sum(w, axis=0)
        o = o * old + tl.sum(w[:, None] * value, axis=0)
        m = larger
    y = mine + times(o / l, wo)
    up = times(normed(y), w1)
    tl.store(out + tl.program_id(0) * 32 + c, y + times(up / (1 + tl.exp(-up)), w2))
