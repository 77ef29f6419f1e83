__global__ void saxpy(float alpha, const float *__restrict__ x, float *__restrict__ y, int n)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = fmaf(alpha, x[i], y[i]);
}
