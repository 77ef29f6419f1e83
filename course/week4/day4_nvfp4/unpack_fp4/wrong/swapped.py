"""The low four bits come first."""
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def value_of(code):  # E2M1
    size = code & 7
    value = tl.where(size < 4, size * 0.5, tl.where(size < 7, size - 2, 6).to(tl.float32))
    return tl.where((code & 8) != 0, -value, value)


@triton.jit
def unpack_fp4(packed, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed + i, mask=i < n, other=0).to(tl.int32)
    pair = tl.join(value_of(byte >> 4), value_of(byte & 15))
    tl.store(y + i[:, None] * 2 + tl.arange(0, 2)[None, :], pair, mask=(i < n)[:, None])
