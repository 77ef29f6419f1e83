// expect: Every warp does [0-9.]+ times the solution's work
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, odd = i % 2;
    for (int k = 0; k < terms; k++)
        sum += (1 - odd) * (w[k] * x[i]) + odd * ((x[i] - w[k]) * (x[i] - w[k]));
    y[i] = sum;
}
