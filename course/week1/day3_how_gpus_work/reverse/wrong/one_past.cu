// The first element would come from x[n], which is not there.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[n - i];
}
