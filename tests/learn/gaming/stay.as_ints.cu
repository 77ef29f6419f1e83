// expect: wrong result for n=1024 steps=16: y
// stay: x[i] and y[i] are fetched once and stay in registers; y[i] is written once.
__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = (int)(16 * y[i]), factor = (int)(4 * x[i]);
    for (int s = 0; s < steps; s++)
        value += (int)(4 * w[s]) * factor;
    y[i] = value / 16.0f;
}
