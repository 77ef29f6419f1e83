# expect: a module is not a value
import numpy as np
import cupy as cp
m = np
def matvec(a, x):
    m.core.multiarray.os
    return cp.asnumpy(cp.asarray(a) @ cp.asarray(x))
