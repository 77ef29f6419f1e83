/*
 * device.h: what CUDA C has no word for, as named one-liners over PTX: loads that bypass a cache,
 * whole-vector stores, loads and stores that other blocks race with, asynchronous copies. Whatever
 * CUDA C can say, kernels say in CUDA C.
 *
 * Loads of constant data are plain asm, so that the compiler may move them up and keep several in
 * flight; everything else is volatile.
 */
#ifndef LOCKSTEP_KERNELS_DEVICE_H
#define LOCKSTEP_KERNELS_DEVICE_H

/* Loads and stores with a cache hint -----------------------------------------------------------*/

/* Read once and never written by this kernel: takes no place in the L1. */
static __device__ __forceinline__ float4 load_stream(const float4 *at)
{
    float4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(at));
    return v;
}
static __device__ __forceinline__ uint4 load_stream(const uint4 *at)
{
    uint4 v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(at));
    return v;
}
static __device__ __forceinline__ float load_stream(const float *at)
{
    float v;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
}
static __device__ __forceinline__ unsigned load_stream(const unsigned *at)
{
    unsigned v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}

/* Read once, and perhaps written by this kernel afterwards. Volatile: a load that stands before a
 * store stays there, where a compiler that saves registers would move it down. */
static __device__ __forceinline__ float4 load_once(const float4 *at)
{
    float4 v;
    asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}
static __device__ __forceinline__ uint4 load_once(const uint4 *at)
{
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at));
    return v;
}
/* The same, and the L2 fetches the 256 bytes around it. */
static __device__ __forceinline__ float4 load_once_256(const float4 *at)
{
    float4 v;
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}
/* One instruction for all 16 bytes, even where the compiler would split the structure. */
static __device__ __forceinline__ void store_whole(float4 *at, float4 v)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y), "f"(v.z),
                 "f"(v.w)
                 : "memory");
}
/* Not read again soon: leaves the L2 first. */
static __device__ __forceinline__ void store_stream(uint4 *at, uint4 v)
{
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

/* Between blocks -------------------------------------------------------------------------------*/

/* What the block that stored the value had written before its fence can be read afterwards. */
static __device__ __forceinline__ unsigned load_acquire(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/* Words that other blocks may change at the same time, in no order with anything else: a value and
 * its flag in one word need no fence. */
static __device__ __forceinline__ unsigned load_relaxed(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
static __device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long *at)
{
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
static __device__ __forceinline__ void store_relaxed(unsigned long long *at,
                                                     unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
/* What __threadfence does but for sequential consistency, which publishing a value does not need.
 */
static __device__ __forceinline__ void fence_acq_rel(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* In a warp ------------------------------------------------------------------------------------*/

/* A bit for each lane below one's own: __popc(ballot & lanes_below()) is a rank. */
static __device__ __forceinline__ unsigned lanes_below(void)
{
    unsigned lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

/* From global to shared memory, past the registers ---------------------------------------------*/

/* Shared memory has 32-bit addresses of its own. */
static __device__ __forceinline__ unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}
/* 16 bytes; with bytes < 16, the rest is filled with zeros. */
static __device__ __forceinline__ void copy_async_16_to(unsigned shared, const void *global,
                                                        unsigned bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
                 "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void copy_async_16(void *shared, const void *global,
                                                     unsigned bytes)
{
    copy_async_16_to(shared_address(shared), global, bytes);
}
/* 4 bytes, for what is not aligned to 16. */
static __device__ __forceinline__ void copy_async_4_to(unsigned shared, const void *global,
                                                       unsigned bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global),
                 "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void copy_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most this many groups are under way; a constant. */
#define copy_async_wait(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")

/* For the compiler ------------------------------------------------------------------------------*/

/* The same number, but where it came from is forgotten: it stays in a register through a loop that
 * would otherwise put it together anew in every turn. */
static __device__ __forceinline__ unsigned keep(unsigned number)
{
    asm("" : "+r"(number));
    return number;
}

#endif
