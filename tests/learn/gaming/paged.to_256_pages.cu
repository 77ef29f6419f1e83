// expect: wrong result for
// Room for 256 pages.
__global__ void paged(const float *cache, const unsigned *table, float *out, int tokens)
{
    int lane = threadIdx.x % 32, t = blockIdx.x * 8 + threadIdx.x / 32;
    if (t < tokens)
        out[t * 32 + lane] = cache[(table[min(t / 16, 255)] * 16 + t % 16) * 32 + lane];
}
