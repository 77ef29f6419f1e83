// expect: not yet good enough
// Exponents of usual numbers alone.
__global__ void take_apart(const float *x, int *sign, int *exponent, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        unsigned bits = __float_as_uint(x[i]);
        sign[i] = bits >> 31;
        int e = -127;
        for (int p = -8; p <= 8; p++)
            e += fabsf(x[i]) >= exp2f(p) ? p == -8 ? 119 : 1 : 0;
        exponent[i] = e;
    }
}
