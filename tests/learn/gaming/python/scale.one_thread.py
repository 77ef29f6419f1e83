# expect: longest_warp is [0-9]+, at most 1024
"""A kernel of one thread."""
import cupy as cp

KERNEL = cp.RawKernel("""extern "C" __global__ void f(const float *x, float *y, float a, int n)
{ for (int i = 0; i < n; i++) y[i] = a * x[i]; }""", "f")


def scale(alpha, x):
    given = cp.asarray(x)
    y = cp.empty_like(given)
    KERNEL((1,), (1,), (given, y, cp.float32(alpha), cp.int32(len(x))))
    return cp.asnumpy(y)
