// in_range: exp(y) < limit just where y < log(limit).
__global__ void in_range(const float *x, int *half_ok, int *float_ok, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float y = scale * x[i];
        half_ok[i] = y < 11.09011f;  // log(65520)
        float_ok[i] = y < 88.72284f; // log(2^128)
    }
}
