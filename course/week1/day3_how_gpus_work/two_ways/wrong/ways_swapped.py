"""Even elements are treated as odd ones."""
import cupy as cp


def two_ways(x, w):
    x, w = cp.asarray(x), cp.asarray(w)
    y = cp.empty_like(x)
    y[1::2] = (x[0::2, None] * w).sum(axis=1)
    away = x[1::2, None] - w
    y[0::2] = (away * away).sum(axis=1)
    return cp.asnumpy(y)
