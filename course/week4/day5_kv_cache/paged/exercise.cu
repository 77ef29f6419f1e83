// paged (kata): row t of a sequence lies in page table[t / 16] of the cache, at place t % 16. A page has 16 rows of 32 numbers. out[t] =
// that row; a warp has one row.
__global__ void paged(const float *cache, const unsigned *table, float *out, int tokens)
{
    // TODO: page, place, lane.
}
