# expect: wrong result for 
"""NaN becomes 0."""
import cupy as cp


def reverse(x):
    return cp.asnumpy(cp.nan_to_num(cp.asarray(x)[::-1], nan=0.0, posinf=cp.inf, neginf=-cp.inf))
