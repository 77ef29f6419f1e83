// reverse: element i of y is the i-th from the end of x, which has index n - 1 - i.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[n - 1 - i];
}
