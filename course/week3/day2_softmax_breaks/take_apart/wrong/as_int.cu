// Converts the number instead of taking its bits.
__global__ void take_apart(const float *x, int *sign, int *exponent, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        unsigned bits = (unsigned)(int)x[i];
        sign[i] = bits >> 31;
        exponent[i] = (int)(bits >> 23 & 255) - 127;
    }
}
