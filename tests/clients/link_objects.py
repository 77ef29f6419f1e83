"""link_objects.py KERNEL.ptx INPUT...: links a kernel with objects and libraries by nvJitLink's calls, and
runs it: kernel `answer` writes next(41). Prints the answer, or the linker's words. No package needed.
"""

import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
linker = ctypes.CDLL("libnvJitLink.so.13")
link, size = ctypes.c_void_p(), ctypes.c_size_t()


def check(status):
    if status:
        linker.nvJitLinkGetErrorLogSize(link, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        linker.nvJitLinkGetErrorLog(link, log)
        sys.exit(f"status {status}: {log.value.decode()}")


options = (ctypes.c_char_p * 2)(b"-arch=sm_90", b"-lineinfo")
check(linker.nvJitLinkCreate(ctypes.byref(link), 2, options))
for path in sys.argv[1:]:
    check(linker.nvJitLinkAddFile(link, 10, path.encode()))
check(linker.nvJitLinkComplete(link))
check(linker.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)))
image = ctypes.create_string_buffer(size.value)
check(linker.nvJitLinkGetLinkedCubin(link, image))
check(linker.nvJitLinkDestroy(ctypes.byref(link)))

context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
address, answer = ctypes.c_uint64(), ctypes.c_int()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"answer") == 0
cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(address))
assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None) == 0
assert cuda.cuMemcpyDtoH_v2(ctypes.byref(answer), address, ctypes.c_size_t(4)) == 0
print("answer", answer.value)
