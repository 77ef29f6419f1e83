/*
 * cuda_pipeline.h: CUDA's names for copies from global to shared memory that do not wait (cp.async),
 * for clang without NVIDIA's toolkit. Compilers that have the toolkit get its own.
 */
#if defined(__NVCC__) || defined(__CUDACC_RTC__) || defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include_next <cuda_pipeline.h>
#elif !defined(LOCKSTEP_KERNELS_CUDA_PIPELINE_H)
#define LOCKSTEP_KERNELS_CUDA_PIPELINE_H

/* Copies bytes - zeros bytes and fills the rest with zeros; bytes is 4, 8 or 16. */
static __device__ __forceinline__ void __pipeline_memcpy_async(void *shared, const void *global,
                                                               size_t bytes, size_t zeros = 0)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(shared), real = (unsigned)(bytes - zeros);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(global),
                     "r"(real)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(global),
                     "r"(real)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(global),
                     "r"(real)
                     : "memory");
}
static __device__ __forceinline__ void __pipeline_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Until at most this many of the thread's last groups are under way. */
static __device__ __forceinline__ void __pipeline_wait_prior(size_t groups)
{
    switch (groups) {
    case 0:
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        break;
    case 1:
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        break;
    case 2:
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        break;
    default:
        asm volatile("cp.async.wait_group 3;" ::: "memory");
    }
}

#endif
