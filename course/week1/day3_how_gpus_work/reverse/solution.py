"""A view with a step of -1, copied once."""
import cupy as cp


def reverse(x):
    return cp.asnumpy(cp.asarray(x)[::-1])
