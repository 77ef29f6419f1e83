// in_range: is exp(scale * x[i]) still a number in f16, and in f32? half_ok and float_ok get 1 or 0.
//
// The largest number of f16 is 65504; from 65520 on, rounding gives infinity. The largest f32 is about 3.4e38.
__global__ void in_range(const float *x, int *half_ok, int *float_ok, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        // TODO: without computing a single exp: compare the argument with a logarithm.
        float e = __expf(scale * x[i]);
        half_ok[i] = e < 65504.0f;
        float_ok[i] = e < 3.4e38f;
    }
}
