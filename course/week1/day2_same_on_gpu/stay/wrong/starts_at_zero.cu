// What was in y is lost: the sum begins with 0.
__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = 0, factor = x[i];
    for (int s = 0; s < steps; s++)
        value += w[s] * factor;
    y[i] = value;
}
