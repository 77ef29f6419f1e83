"""y = x from its end to its beginning, on the GPU."""
import cupy as cp


def reverse(x):
    # TODO: from memory: there, turned round, and back.
    pass
