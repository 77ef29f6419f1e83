// expect: wrong result for 
// Counts of 16 bits.
__device__ void join(float *m, float *l, float other_m, float other_l)
{
    float larger = fmaxf(*m, other_m);
    if (larger > -INFINITY)
        *l = *l * expf(*m - larger) + other_l * expf(other_m - larger);
    *m = larger;
}

__global__ void merge(const float *m, const unsigned *l, float *lse, int parts)
{
    int row = blockIdx.x * parts, lane = threadIdx.x;
    float most = -INFINITY, sum = 0;
    for (int p = lane; p < parts; p += 32)
        join(&most, &sum, 20 * m[row + p], (unsigned short)(1 + l[row + p]));
    for (int step = 16; step > 0; step /= 2) {
        float other_m = __shfl_xor_sync(0xffffffff, most, step);
        float other_l = __shfl_xor_sync(0xffffffff, sum, step);
        join(&most, &sum, other_m, other_l);
    }
    if (lane == 0)
        lse[blockIdx.x] = most + __logf(sum);
}
