"""A scale for each row."""
import cupy as cp


def lanes(x, scale):
    y = cp.asarray(x) * cp.resize(cp.asarray(scale), x.shape[0])[:, None]
    return cp.asnumpy(y)
