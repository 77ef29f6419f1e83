// stochastic: one fma, and the whole part below by an intrinsic.
__global__ void stochastic(const float *x, const unsigned *random, signed char *codes, float scale,
                           int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int code = __float2int_rd(__fmaf_rn((float)random[i], 0.015625f, x[i] / scale));
    codes[i] = (signed char)max(-127, min(127, code));
}
