# expect: 'fromfile' is not for exercises
from numpy import fromfile as ff
import cupy as cp
def matvec(a, x):
    return cp.asnumpy(cp.asarray(a) @ cp.asarray(x))
