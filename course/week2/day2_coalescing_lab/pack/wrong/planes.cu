// Puts the colours one behind the other: conflict-free, and not pixels.
__global__ void pack(const float *red, const float *green, const float *blue, float *pixels, int n)
{
    __shared__ float row[768];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, first = blockIdx.x * 768;
    if (i < n) {
        row[t] = red[i];
        row[t + 256] = green[i];
        row[t + 512] = blue[i];
    }
    __syncthreads();
    for (int k = t; k < 768; k += 256)
        if (first + k < 3 * n)
            pixels[first + k] = row[k];
}
