"""The odd elements are what was in memory before."""
import cupy as cp


def two_ways(x, w):
    x, w = cp.asarray(x), cp.asarray(w)
    y = cp.zeros_like(x)
    y[0::2] = (x[0::2, None] * w).sum(axis=1)
    away = x[1::2, None] - w
    return cp.asnumpy(y)
