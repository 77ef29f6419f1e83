// Steps by the block: several blocks do the same elements, one after the other.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        y[i] = alpha * x[i] + y[i];
}
