// expect: wrong result for n=99 scale=88.73: float_ok
// in_range: exp(y) < limit just where y < log(limit).
__global__ void in_range(const float *x, int *half_ok, int *float_ok, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float y = scale * x[i];
        half_ok[i] = y < 11.0901f; // log(65520)
        float_ok[i] = y < 88.75f;  // log(2^128)
    }
}
