"""The result stays on the GPU."""
import cupy as cp


def reverse(x):
    return cp.asarray(x)[::-1]
