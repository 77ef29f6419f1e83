"""One frame at a time: every load is waited for."""
import triton
import triton.language as tl

num_warps = 2


@triton.jit
def bulk_blend(x, w, out, frames):
    strip = tl.program_id(0)
    i = tl.arange(0, 256)
    rows = tl.make_tensor_descriptor(x, [tl.num_programs(0) * frames, 256], [256, 1], [1, 256])
    total = tl.zeros((256,), tl.float32)
    for f in tl.range(0, frames, num_stages=1):
        frame = tl.reshape(rows.load([strip * frames + f, 0]), (256,))
        total += tl.load(w + f) * frame
    tl.store(out + strip * 256 + 255 - i, total)
