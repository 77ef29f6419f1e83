"""Row t of a sequence lies in page table[t / 16] of the cache, at place t % 16. A page has 16 rows of 32
numbers. out[t] = that row."""
import triton
import triton.language as tl

TOKENS = 16


@triton.jit
def paged(cache, table, out, tokens, TOKENS: tl.constexpr):
    t = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    c = tl.arange(0, 32)
    # TODO: which page is it? The table knows.
    page = t // 16
    inside = (t < tokens)[:, None]
    row = tl.load(cache + (page * 16 + t % 16)[:, None] * 32 + c[None, :], mask=inside)
    tl.store(out + t[:, None] * 32 + c[None, :], row, mask=inside)
