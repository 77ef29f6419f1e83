// warps take 64 neighbours in turn: even ones, then odd ones
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * 256 + warp / 2 * 64 + 2 * lane + warp % 2;
    if (i >= n)
        return;
    float v = x[i], sum = 0;
    if (warp % 2)
        for (int k = 0; k < terms; k++) {
            float d = v - w[k];
            sum = fmaf(d, d, sum);
        }
    else
        for (int k = 0; k < terms; k++)
            sum = fmaf(w[k], v, sum);
    y[i] = sum;
}
