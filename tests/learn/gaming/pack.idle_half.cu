// expect: warp_instructions is|leave their part
// pack: half of the threads carry two colours each
__global__ void pack(const float *red, const float *green, const float *blue, float *pixels, int n)
{
    __shared__ float row[768];
    int t = threadIdx.x, first = blockIdx.x * 768;
    for (int k = t; k < 768 && t < 128; k += 128) {
        const float *from = k < 256 ? red : k < 512 ? green : blue;
        int i = blockIdx.x * 256 + k % 256;
        if (i < n)
            row[3 * (k % 256) + k / 256] = from[i];
    }
    __syncthreads();
    for (int k = t; k < 768 && t < 128; k += 128)
        if (first + k < 3 * n)
            pixels[first + k] = row[k];
}
