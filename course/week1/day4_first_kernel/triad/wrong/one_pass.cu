// Every thread does one element, and the grid stays where it is.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = alpha * x[i] + y[i];
}
