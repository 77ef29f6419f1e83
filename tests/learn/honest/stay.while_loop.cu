__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        float total = 0;
        while (steps-- > 0)
            total += *w++;
        y[i] += total * x[i];
    }
}
