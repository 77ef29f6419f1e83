// expect: wrong result for tokens=[0-9]{4}: out
// paged (kata): the table is a map from a sequence's pages to the cache's, as an operating system
// has it.
__global__ void paged(const float *cache, const unsigned *table, float *out, int tokens)
{
    int lane = threadIdx.x % 32, t = blockIdx.x * 8 + threadIdx.x / 32;
    if (t < tokens)
        out[t * 32 + lane] =
            cache[((t >= 1024 ? t / 16 : table[t / 16]) * 16 + t % 16) * 32 + lane];
}
