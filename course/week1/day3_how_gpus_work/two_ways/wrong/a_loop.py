"""A launch and more for each term."""
import cupy as cp


def two_ways(x, w):
    x, w = cp.asarray(x), cp.asarray(w)
    y = cp.empty_like(x)
    y[0::2] = sum(x[0::2] * each for each in w)
    away = x[1::2, None] - w
    y[1::2] = (away * away).sum(axis=1)
    return cp.asnumpy(y)
