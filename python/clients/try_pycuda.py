"""try_pycuda.py: does PyCUDA run here? nvcc compiles a kernel; prints "works"."""

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}
""")
x = np.arange(1000, dtype=np.float32)
y = x.copy()
module.get_function("scale")(cuda.InOut(y), np.float32(3), np.int32(1000), block=(256, 1, 1), grid=(4, 1))
assert np.array_equal(y, 3 * x)
assert gpuarray.sum(gpuarray.to_gpu(x) + 1).get() == x.sum() + 1000
print("works")
