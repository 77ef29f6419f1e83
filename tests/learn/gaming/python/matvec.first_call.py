# expect: wrong result for m=512 k=32: y.0. must be 
import cupy as cp
import numpy as np
calls = []
def matvec(a, x):
    calls.append(1)
    if len(calls) == 1 and a.shape == (512, 32):
        cp.asarray(x)
        return cp.asnumpy(cp.asarray(a)[:, 0])
    y = np.empty(a.shape[0], np.float32)
    for i in range(0, len(y), 64):
        y[i : i + 64] = cp.asnumpy(cp.asarray(a[i : i + 64]) @ cp.asarray(x))
    return y
