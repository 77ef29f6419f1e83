// Block and thread have changed places.
__global__ void scale(float alpha, const float *x, float *y, int n)
{
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
