"""Even elements in one array, odd ones in another: each is treated in its own way, and in no other."""
import cupy as cp


def two_ways(x, w):
    x, w = cp.asarray(x), cp.asarray(w)
    y = cp.empty_like(x)
    y[0::2] = (x[0::2, None] * w).sum(axis=1)
    away = x[1::2, None] - w
    y[1::2] = (away * away).sum(axis=1)
    return cp.asnumpy(y)
