import cupy as cp
import numpy as np
kernel = cp.RawKernel(r'''extern "C" __global__ void mv(const float *a, const float *x, float *y, int m, int k) {
 int i = blockIdx.x * 64 + threadIdx.x; float s = 0; if (i < m) { for (int p = 0; p < k; p++) s += a[i*k+p]*x[p]; y[i] = s; } }''', 'mv')
def matvec(a, x):
    m, k = a.shape
    y = cp.empty(m, np.float32)
    kernel(((m + 63) // 64,), (64,), (cp.asarray(a), cp.asarray(x), y, np.int32(m), np.int32(k)))
    return cp.asnumpy(y)
