// Steps of two, and no thread takes the odd elements of the second half.
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int i = blockIdx.x * 256 + 2 * (threadIdx.x % 128);
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
