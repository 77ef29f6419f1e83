"""core_bug.py: a kernel of cuda.core without a guard, whose options do not ask for line numbers."""

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = """
extern "C" __global__ void fill(float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
"""
program = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
out = device.allocate(4000, stream=stream)
launch(stream, LaunchConfig(grid=4, block=256), program.compile("cubin").get_kernel("fill"), out.handle)
stream.sync()
