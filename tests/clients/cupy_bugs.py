"""cupy_bugs.py: kernels of CuPy with a planted error each, and one without, for `check` and `profile`.

    lockstep check tests/clients/cupy_bugs.py bins     (race, element, clean); profile: columns
"""

import sys

import cupy

module = cupy.RawModule(code=r"""
extern "C" {

__global__ void bins(const int *x, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(counts + x[i], 1);
}

__global__ void race(const float *x, float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = s[255 - threadIdx.x];
}

__global__ void columns(const float *x, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i * 64];
}

__global__ void clean(const float *x, float *out, int n)
{
    __shared__ float s[250];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    atomicAdd(out, s[n - 1 - threadIdx.x]);
}
}
""")
x, out = cupy.ones(1000, "f"), cupy.zeros(1000, "f")
what = sys.argv[1]
if what == "bins":
    counts = cupy.zeros(10, "i")
    module.get_function("bins")((4,), (256,), (cupy.arange(1000, dtype="i") % 12, counts, 1000))
elif what == "race":
    module.get_function("race")((1,), (256,), (x, out))
elif what == "element":
    cupy.ElementwiseKernel("raw float32 x", "float32 y", "y = x[i + 1]", "shift")(x, out)
elif what == "columns":
    module.get_function("columns")((64,), (256,), (cupy.ones(64 * 64 * 256, "f"), cupy.zeros(64 * 256, "f")))
else:
    module.get_function("clean")((1,), (250,), (x, out, 250))
    print("sum", int(cupy.cumsum(cupy.sort(x))[-1]), out[0])
cupy.cuda.Device().synchronize()
