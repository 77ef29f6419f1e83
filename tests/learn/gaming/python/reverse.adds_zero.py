# expect: wrong result for 
"""Loses -0."""
import cupy as cp


def reverse(x):
    return cp.asnumpy(cp.asarray(x)[::-1] + 0)
