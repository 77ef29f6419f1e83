/*
 * register_tiled.cu: each thread makes TM x TN distances in registers: TM + TN words from shared
 * memory serve TM * TN differences, instead of two serving one. What is left is arithmetic, a
 * subtraction and a multiply-add for each element of each pair. A difference is exact to its last
 * bit, so the distances of near points are as accurate as those of far ones.
 */
// arch: sm_75
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define ACROSS (BN / TN) /* threads */
#define DOWN (BM / TM)
#define THREADS (ACROSS * DOWN)
/* blocks on an SM, at 128 registers a thread */
#define RESIDENT (THREADS < 512 ? 512 / THREADS : 1)
#define STEP (THREADS / BK) /* vectors that all threads load together */

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pairwise(const float *x, const float *y, float *out, long long n, long long m, long long d)
{
    /* [vector][element], with a word of padding so that vectors begin in different banks */
    __shared__ float x_tile[BM][BK + 1], y_tile[BN][BK + 1];
    long long i0 = (long long)blockIdx.x * BM, j0 = (long long)blockIdx.y * BN;
    unsigned across = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    unsigned vector = threadIdx.x / BK, element = threadIdx.x % BK; /* what this thread loads */
    const float *x_from = x + (i0 + vector) * d + element;
    const float *y_from = y + (j0 + vector) * d + element;
    float sum[TM][TN] = {};

    for (long long left = d; left > 0; left -= BK, x_from += BK, y_from += BK) {
        /* Zeros past the last element add nothing to a distance; what comes of zeros past the last
         * vector is not stored. */
#pragma unroll
        for (unsigned v = 0; v < BM; v += STEP)
            x_tile[vector + v][element] =
                element < left && i0 + vector + v < n ? x_from[v * d] : 0.0f;
#pragma unroll
        for (unsigned v = 0; v < BN; v += STEP)
            y_tile[vector + v][element] =
                element < left && j0 + vector + v < m ? y_from[v * d] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned l = 0; l < BK; l++) {
            float of_x[TM], of_y[TN];
#pragma unroll
            for (unsigned t = 0; t < TM; t++)
                of_x[t] = x_tile[down + t * DOWN][l];
#pragma unroll
            for (unsigned t = 0; t < TN; t++)
                of_y[t] = y_tile[across + t * ACROSS][l];
#pragma unroll
            for (unsigned t = 0; t < TM * TN; t++) {
                float difference = of_x[t / TN] - of_y[t % TN];
                sum[t / TN][t % TN] = fmaf(difference, difference, sum[t / TN][t % TN]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned t = 0; t < TM * TN; t++) {
        long long i = i0 + down + t / TN * DOWN, j = j0 + across + t % TN * ACROSS;
        if (i < n && j < m)
            out[i * m + j] = sum[t / TN][t % TN];
    }
}
