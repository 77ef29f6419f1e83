// Every block does the first 256 elements.
__global__ void scale(float alpha, const float *x, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
