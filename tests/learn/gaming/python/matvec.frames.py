# expect: 'gi_frame' is not for exercises
import cupy as cp
import numpy as np
def matvec(a, x):
    g = (i for i in range(2))
    def peek():
        yield g.gi_frame
    f = next(peek())
    return a @ x
