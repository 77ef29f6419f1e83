// expect: wrong result for 
// Saturates at -128.
__global__ void stochastic(const float *x, const unsigned *random, signed char *codes, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float y = floorf(x[i] / scale + random[i] / 64.0f);
        codes[i] = (signed char)fminf(fmaxf(y, -128), 127);
    }
}
