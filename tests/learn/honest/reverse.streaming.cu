// reverse: streaming loads and stores.
__global__ void reverse(const float *x, float *y, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (unsigned)n)
        __stcs(y + i, __ldcs(x + (n - 1 - i)));
}
