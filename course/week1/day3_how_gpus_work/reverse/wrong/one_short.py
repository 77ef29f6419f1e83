"""The first element is missing."""
import cupy as cp


def reverse(x):
    return cp.asnumpy(cp.asarray(x)[:0:-1])
