"""out[i] = sum of w[f] * frame f's element 255 - i. A program has a strip of frames, each 256 numbers.

All lanes compute addresses and load. A tensor descriptor lets the TMA unit do it: x as a matrix whose
rows are frames, tl.make_tensor_descriptor(base, shape, strides, block_shape), and .load([row, column])."""
import triton
import triton.language as tl

num_warps = 2


@triton.jit
def bulk_blend(x, w, out, frames):
    strip = tl.program_id(0)
    i = tl.arange(0, 256)
    total = tl.zeros((256,), tl.float32)
    for f in tl.range(0, frames, num_stages=4):
        # TODO: a descriptor before the loop, a tile of 1 x 256 here.
        frame = tl.load(x + (strip * frames + f) * 256 + i)
        total += tl.load(w + f) * frame
    tl.store(out + strip * 256 + 255 - i, total)
