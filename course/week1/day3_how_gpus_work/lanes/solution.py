"""One launch over all elements: broadcasting repeats the row of scales."""
import cupy as cp


def lanes(x, scale):
    y = cp.asarray(x) * cp.asarray(scale)
    return cp.asnumpy(y)
