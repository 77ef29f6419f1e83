"""try_cupy.py: does CuPy run here? Elementwise, a reduction, a kernel of its own, and
calls of CUB, cuBLAS, cuFFT and cuRAND; prints "works"."""

import cupy

x = cupy.arange(10, dtype=cupy.float32)
assert float((x * 2 + 1).sum()) == 100
kernel = cupy.RawKernel('extern "C" __global__ void triple(float *x) { x[threadIdx.x] *= 3; }', "triple")
kernel((1,), (10,), (x,))
assert x.get().tolist() == [3.0 * i for i in range(10)]

assert cupy.sort(cupy.array([3, 1, 2])).get().tolist() == [1, 2, 3]
a = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)
assert (a @ a.T).get().tolist() == (a.get() @ a.get().T).tolist()
spectrum = cupy.fft.fft(cupy.ones(8, dtype=cupy.complex64)).get()
assert abs(spectrum[0] - 8) < 1e-5 and abs(spectrum[1:]).max() < 1e-5
cupy.random.seed(1)
assert 0.4 < float(cupy.random.rand(1000).mean()) < 0.6
print("works")
