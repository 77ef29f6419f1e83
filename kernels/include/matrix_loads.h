/*
 * matrix_loads.h: ldmatrix: a warp loads four matrices of 8 x 8 numbers of 16 bits from shared memory.
 * Lanes 8 i to 8 i + 7 have the addresses of matrix i's rows; lane t gets numbers 2 (t % 4) and the
 * next of row t / 4 of each, or of its transpose. sm_75.
 */
#ifndef LOCKSTEP_KERNELS_MATRIX_LOADS_H
#define LOCKSTEP_KERNELS_MATRIX_LOADS_H

static __device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
}
static __device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
}

#endif
