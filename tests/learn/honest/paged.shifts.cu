// paged: shifts and masks, 64-bit offsets.
__global__ void paged(const float *__restrict__ cache, const unsigned *__restrict__ table, float *__restrict__ out, int tokens)
{
    const int lane = threadIdx.x & 31, t = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (t >= tokens)
        return;
    const size_t page = table[t >> 4];
    out[((size_t)t << 5) + lane] = cache[(page << 9) + ((t & 15) << 5) + lane];
}
