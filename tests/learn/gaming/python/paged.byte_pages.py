# expect: wrong result for 
"""Numbers of pages in 8 bits."""
import triton
import triton.language as tl

TOKENS = 16


@triton.jit
def paged(cache, table, out, tokens, TOKENS: tl.constexpr):
    t = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    c = tl.arange(0, 32)
    page = tl.load(table + t // 16, mask=t < tokens, other=0).to(tl.uint8).to(tl.int32)
    inside = (t < tokens)[:, None]
    row = tl.load(cache + (page * 16 + t % 16)[:, None] * 32 + c[None, :], mask=inside)
    tl.store(out + t[:, None] * 32 + c[None, :], row, mask=inside)
