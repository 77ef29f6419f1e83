"""try_cuda_core.py: does cuda.core run here? NVRTC to PTX and to a cubin, and two objects linked;
prints "works"."""

import ctypes
import warnings

from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

warnings.simplefilter("ignore")

KERNEL = """extern "C" __global__ void twice(int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= 2;
}"""
CALLER = """extern __device__ int next(int value);
extern "C" __global__ void twice(int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = next(values[i]);
}"""
CALLEE = "__device__ int next(int value) { return value + value; }"

cuda = ctypes.CDLL("libcuda.so.1")
device = Device(0)
device.set_current()
device.sync()  # through the runtime in cuda.bindings
stream = device.create_stream()
arch = "sm_" + "".join(str(part) for part in device.compute_capability)


def run(code):
    n = 100
    host, address = (ctypes.c_int * n)(*range(n)), ctypes.c_uint64()
    size = ctypes.c_size_t(ctypes.sizeof(host))
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), size) == 0
    cuda.cuMemcpyHtoD_v2(address, host, size)
    launch(stream, LaunchConfig(grid=4, block=32), code.get_kernel("twice"), address.value,
           ctypes.c_int(n))
    stream.sync()
    cuda.cuMemcpyDtoH_v2(host, address, size)
    assert list(host) == [2 * i for i in range(n)], list(host)[:4]


for kind in "ptx", "cubin":
    run(Program(KERNEL, "c++", ProgramOptions(arch=arch)).compile(kind))
parts = [Program(code, "c++", ProgramOptions(arch=arch, relocatable_device_code=True)).compile("ptx")
         for code in (CALLER, CALLEE)]
run(Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin"))
print("works")
