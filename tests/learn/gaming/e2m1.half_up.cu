// expect: wrong result for 
// Borders belong to the upper code.
__global__ void e2m1(const float *x, unsigned char *codes, float scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float y = scale * x[i], size = fabsf(y);
        int code = (size >= 0.25f) + (size >= 0.75f) + (size >= 1.25f) + (size >= 1.75f) + (size >= 2.5f) +
                   (size >= 3.5f) + (size >= 5.0f);
        codes[i] = (unsigned char)(code + (y < 0 ? 8 : 0));
    }
}
