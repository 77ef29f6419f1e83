// expect: wrong result for n=31: out
// warp_total (kata): a butterfly of shuffles leaves the total in every lane.
__global__ void warp_total(const float *x, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = x[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (i < n)
        out[i] = sum;
}
