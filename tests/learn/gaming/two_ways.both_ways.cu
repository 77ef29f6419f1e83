// expect: times the solution's|divergent_branches is
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float even = 0, odd = 0;
    for (int again = 0; again < 3; again++) {
        even = odd = 0;
        for (int k = 0; k < terms; k++)
            even += w[k] * x[i];
        for (int k = 0; k < terms; k++)
            odd += (x[i] - w[k]) * (x[i] - w[k]);
        __syncwarp(__activemask());
    }
    y[i] = i % 2 ? odd : even;
}
