// wgmma_tile.h: what the wgmma programs here share: a product of 64 x 8 x 16, f16, no swizzle.
#include <cstdint>

// Core matrices of 8 rows of 16 bytes: 128 bytes each, the next along K 128 bytes on, the next 8
// rows 256 bytes on.
__device__ inline uint64_t descriptor(const void *tile)
{
    uint64_t address = __cvta_generic_to_shared(tile);
    return (address & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

__device__ inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// A macro, so that the product is on the line that has it.
#define WGMMA(d, a, b)                                                                             \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, " \
                 "1, 1, 0, 0;"                                                                     \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "l"(a), "l"(b))

#define WGMMA_RS(d, a, b)                                                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "            \
                 "{%4, %5, %6, %7}, %8, 1, 1, 1, 0;"                                               \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b))

__device__ inline void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> __device__ inline void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

__device__ inline void proxy_fence()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}
