// steps (kata): the neighbour's number comes from the neighbour; only lane 31 has to ask memory.
__global__ void steps(const float *x, float *d, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = i < n ? x[i] : 0;
    float next = __shfl_down_sync(0xffffffff, own, 1);
    if (threadIdx.x % 32 == 31 && i + 1 < n)
        next = x[i + 1];
    if (i < n)
        d[i] = i + 1 < n ? next - own : 0;
}
