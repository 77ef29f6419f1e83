__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float total = 0;
    for (int s = 0; s < steps; s++)
        total += w[s];
    y[i] += total * x[i];
}
