// bulk_mirror (kata): make, announce, copy, wait.
#include "tma.h"

__global__ void bulk_mirror(const float *x, float *out)
{
    __shared__ __align__(128) float tile[256];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        barrier_make(&full, 1);
        barrier_made();
        barrier_arrive_expecting(&full, 1024);
        bulk_load(tile, x + blockIdx.x * 256, 1024, &full);
    }
    __syncthreads();
    barrier_wait(&full, 0);
    for (int k = threadIdx.x; k < 256; k += 64)
        out[blockIdx.x * 256 + k] = tile[255 - k];
}
