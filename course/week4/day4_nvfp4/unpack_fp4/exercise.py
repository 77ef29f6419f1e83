"""y[i] = the two E2M1 numbers of byte i, the low four bits first. Sizes by code: 0 0.5 1 1.5 2 3 4 6."""
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def value_of(code):  # E2M1
    # TODO: no table: codes below 4 are halves, then come code - 2 and 6. Bit 3 is the sign.
    return code * 0.5


@triton.jit
def unpack_fp4(packed, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed + i, mask=i < n, other=0).to(tl.int32)
    pair = tl.join(value_of(byte & 15), value_of(byte & 15))
    tl.store(y + i[:, None] * 2 + tl.arange(0, 2)[None, :], pair, mask=(i < n)[:, None])
