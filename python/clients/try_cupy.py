"""try_cupy.py: does CuPy run here? Elementwise, a reduction and a kernel of its own; prints "works"."""

import cupy

x = cupy.arange(10, dtype=cupy.float32)
assert float((x * 2 + 1).sum()) == 100
kernel = cupy.RawKernel('extern "C" __global__ void triple(float *x) { x[threadIdx.x] *= 3; }', "triple")
kernel((1,), (10,), (x,))
assert x.get().tolist() == [3.0 * i for i in range(10)]
print("works")
