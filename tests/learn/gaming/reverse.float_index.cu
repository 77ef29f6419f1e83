// expect: wrong result for n=24000001, of which a few blocks are run: y
// reverse: element i of y is the i-th from the end of x, which has index n - 1 - i.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[(int)((float)n - 1.0f - i)];
}
