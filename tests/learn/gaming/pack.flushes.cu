// expect: wrong result for 
// Flushes small numbers.
__global__ void pack(const float *red, const float *green, const float *blue, float *pixels, int n)
{
    __shared__ float row[768];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, first = blockIdx.x * 768;
    if (i < n) {
        row[3 * t] = fabsf(red[i]) < 1e-30f ? 0 : red[i];
        row[3 * t + 1] = green[i];
        row[3 * t + 2] = blue[i];
    }
    __syncthreads();
    for (int k = t; k < 768; k += 256)
        if (first + k < 3 * n)
            pixels[first + k] = row[k];
}
