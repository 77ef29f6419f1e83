"""Puts tokens into a compressed cache. K: E4M3 with a scale for each token, largest |k| / 448. V: E2M1 in
blocks of 16 with an E4M3 scale, largest |v| / 6; two codes to a byte, the even one low. Rows have 32
numbers, which are two blocks of V.

K is stored without a scale here, and all of V with the scale 1."""
import triton
import triton.language as tl

TOKENS = 4


@triton.jit
def code_of(y):  # E2M1: the code is the number of borders below |y|; ties go to the even code
    size = tl.abs(y)
    code = (size > 0.25).to(tl.int32) + (size >= 0.75) + (size > 1.25) + (size >= 1.75)
    code += (size > 2.5).to(tl.int32) + (size >= 3.5) + (size > 5.0)
    return code + tl.where(y < 0, 8, 0)


@triton.jit
def store_kv(k, v, kq, ks, vq, vs, tokens, TOKENS: tl.constexpr):
    t = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    at = t[:, None] * 32 + tl.arange(0, 32)[None, :]
    inside = (t < tokens)[:, None]
    key = tl.load(k + at, mask=inside, other=0.0)
    # TODO: K: the largest of a token's 32 numbers, / 448.
    k_scale = tl.full((TOKENS,), 1.0, tl.float32)
    tl.store(kq + at, key.to(tl.float8e4nv), mask=inside)
    tl.store(ks + t, k_scale, mask=t < tokens)

    value = tl.reshape(tl.load(v + at, mask=inside, other=0.0), (TOKENS, 2, 16))
    # TODO: V: the largest of each 16, / 6, rounded to E4M3; the codes are made with the rounded scale.
    v_scale = tl.full((TOKENS, 2), 1.0, tl.float32).to(tl.float8e4nv)
    code = code_of(value)
    low, high = tl.split(tl.reshape(code, (TOKENS, 16, 2)))
    tl.store(vq + t[:, None] * 16 + tl.arange(0, 16)[None, :], (low | high << 4).to(tl.uint8), mask=inside)
    tl.store(vs + t[:, None] * 2 + tl.arange(0, 2)[None, :], v_scale, mask=inside)
