/*
 * tiled.cu: a block makes TILE x TILE distances. It goes along the vectors, TILE elements at a
 * time, and keeps these in shared memory: each element is read from global memory, in whole
 * sectors, once for TILE uses. The rows in shared memory are one word longer than necessary, so
 * that threads that read one below the other meet different banks.
 */
// arch: sm_75
#define TILE 32 // tune: 16 32

extern "C" __global__ void __launch_bounds__(TILE *TILE)
pairwise(const float *x, const float *y, float *out, long long n, long long m, long long d)
{
    __shared__ float x_tile[TILE][TILE + 1], y_tile[TILE][TILE + 1]; // [vector][element]
    unsigned across = threadIdx.x % TILE, down = threadIdx.x / TILE;
    long long i0 = (long long)blockIdx.x * TILE, j0 = (long long)blockIdx.y * TILE;
    float sum = 0;
    for (long long from = 0; from < d; from += TILE) {
        /* One element of each tile per thread; zeros past the last vector and element. */
        long long element = from + across;
        bool inside = element < d;
        x_tile[down][across] = inside && i0 + down < n ? x[(i0 + down) * d + element] : 0.0f;
        y_tile[down][across] = inside && j0 + down < m ? y[(j0 + down) * d + element] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned l = 0; l < TILE; l++) {
            float difference = x_tile[down][l] - y_tile[across][l];
            sum = fmaf(difference, difference, sum);
        }
        __syncthreads();
    }
    if (i0 + down < n && j0 + across < m)
        out[(i0 + down) * m + j0 + across] = sum;
}
