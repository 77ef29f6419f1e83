"""y[r][c] = x[r][c] * scale[c].

The result is right, but each row is a launch of its own: 20 elements for a warp of 32 lanes, 256 times."""
import cupy as cp


def lanes(x, scale):
    # TODO: 256 launches with 12 lanes of 32 empty. One operation can take the whole matrix.
    x, scale = cp.asarray(x), cp.asarray(scale)
    y = cp.empty_like(x)
    for r in range(x.shape[0]):
        y[r] = x[r] * scale
    return cp.asnumpy(y)
