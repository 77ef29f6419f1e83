"""A launch for each column."""
import cupy as cp


def lanes(x, scale):
    x, scale = cp.asarray(x), cp.asarray(scale)
    y = cp.stack([x[:, c] * scale[c] for c in range(x.shape[1])], axis=1)
    return cp.asnumpy(y)
