// expect: wrong result for 
// Numbers of pages in 8 bits.
__global__ void paged(const float *cache, const unsigned *table, float *out, int tokens)
{
    int lane = threadIdx.x % 32, t = blockIdx.x * 8 + threadIdx.x / 32;
    if (t < tokens)
        out[t * 32 + lane] = cache[((unsigned char)table[t / 16] * 16 + t % 16) * 32 + lane];
}
