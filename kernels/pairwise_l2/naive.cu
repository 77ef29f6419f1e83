/*
 * naive.cu: one thread for each distance. The threads of a warp have neighbouring vectors of y,
 * which lie d elements apart, so each load touches 32 rows. Both vectors come from the caches once
 * for every distance that they are part of.
 */
// arch: sm_75
#define DOWN 8 // tune: 4 8 16 32

extern "C" __global__ void pairwise(const float *x, const float *y, float *out, long long n,
                                    long long m, long long d)
{
    long long i = (long long)blockIdx.x * DOWN + threadIdx.y;
    long long j = (long long)blockIdx.y * 32 + threadIdx.x;
    if (i >= n || j >= m)
        return;
    float sum = 0;
    for (long long l = 0; l < d; l++) {
        float difference = x[i * d + l] - y[j * d + l];
        sum = fmaf(difference, difference, sum);
    }
    out[i * m + j] = sum;
}
