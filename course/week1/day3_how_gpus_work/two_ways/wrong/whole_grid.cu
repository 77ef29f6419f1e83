// The even elements of the whole array before its odd ones. That is right as long as n is even.
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int t = 2 * (blockIdx.x * 256 + threadIdx.x);
    int i = t < n ? t : t - n + 1;
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
