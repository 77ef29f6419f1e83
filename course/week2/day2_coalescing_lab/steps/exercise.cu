// steps (kata): d[i] = x[i + 1] - x[i], and 0 for the last one. A block has 256 threads, one for each element.
__global__ void steps(const float *x, float *d, int n)
{
    // TODO: every lane loads its own x; __shfl_down_sync brings the neighbour's. Lane 31 has none.
}
