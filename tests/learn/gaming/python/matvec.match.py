# expect: 'ctypes' is not for exercises
import numpy as np
import cupy as cp
def matvec(a, x):
    match a:
        case object(ctypes=c):
            pass
    return cp.asnumpy(cp.asarray(a) @ cp.asarray(x))
