// Never moves on.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float *out = y;
    while (i < n)
        out[i] = alpha * x[i] + out[i];
}
