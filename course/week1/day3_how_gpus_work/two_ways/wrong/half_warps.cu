// Sixteen even ones and sixteen odd ones in turn: that is half a warp, not a whole one.
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t / 32 * 32 + 2 * (t % 16) + t / 16 % 2;
    if (i >= n)
        return;
    float sum = 0;
    if (i % 2 == 0) {
        for (int k = 0; k < terms; k++)
            sum += w[k] * x[i];
    } else {
        for (int k = 0; k < terms; k++)
            sum += (x[i] - w[k]) * (x[i] - w[k]);
    }
    y[i] = sum;
}
