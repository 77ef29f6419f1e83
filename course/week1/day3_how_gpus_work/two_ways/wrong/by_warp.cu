// The branch follows the warp, and no warp splits; but the element stays where it was.
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    if (threadIdx.x / 32 % 2 == 0) {
        for (int k = 0; k < terms; k++)
            sum += w[k] * x[i];
    } else {
        for (int k = 0; k < terms; k++)
            sum += (x[i] - w[k]) * (x[i] - w[k]);
    }
    y[i] = sum;
}
