"""try_triton.py: does Triton run here? A masked sum and a product by tensor cores; prints "works"."""

import ctypes

import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


@triton.jit
def scale_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, 2 * tl.load(x + i, mask) + tl.load(y + i, mask), mask)


@triton.jit
def product(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


class Buffer:
    """What Triton takes for a tensor: a pointer and a type."""

    def __init__(self, values, kind, dtype):
        self.host, self.dtype = (kind * len(values))(*values), dtype
        self.address = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.sizeof(self.host)) == 0
        cuda.cuMemcpyHtoD_v2(self.address, self.host, ctypes.c_size_t(ctypes.sizeof(self.host)))

    def data_ptr(self):
        return self.address.value

    def values(self):
        cuda.cuMemcpyDtoH_v2(self.host, self.address, ctypes.c_size_t(ctypes.sizeof(self.host)))
        return list(self.host)


context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
cuda.cuCtxSetCurrent(context)
n = 1000
x = Buffer(range(n), ctypes.c_float, "float32")
y = Buffer([1.0] * n, ctypes.c_float, "float32")
out = Buffer([0.0] * n, ctypes.c_float, "float32")
scale_add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
assert out.values() == [2.0 * i + 1 for i in range(n)], out.values()[:4]

# 1.0 and 2.0 as bits of float16: every element of the product is 64 * 1 * 2.
a = Buffer([0x3C00] * 64 * 64, ctypes.c_uint16, "float16")
b = Buffer([0x4000] * 64 * 64, ctypes.c_uint16, "float16")
c = Buffer([0.0] * 64 * 64, ctypes.c_float, "float32")
kernel = product[(1,)](a, b, c, N=64)
assert c.values() == [128.0] * 64 * 64, c.values()[:4]
print("works: tensor cores by", "wgmma" if "wgmma" in kernel.asm["ptx"] else "mma")
