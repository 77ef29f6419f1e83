# expect: y is not what came back from the GPU
import cupy as cp
def reverse(x):
    return cp.asnumpy(cp.asarray(x))[::-1]
