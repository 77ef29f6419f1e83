// add_norm: a thread keeps up to 32 numbers of its row in registers; warps reduce by shuffles.
__global__ void add_norm(const float *x, const float *r, const float *gain, float *y, float *out,
                         int cols)
{
    __shared__ float of_warp[4];
    int t = threadIdx.x, row = blockIdx.x * cols;
    float sum = 0, kept[32];
#pragma unroll
    for (int i = 0; i < 32; i++)
        if (t + 128 * i < cols) {
            kept[i] = x[row + t + 128 * i] + r[row + t + 128 * i];
            y[row + t + 128 * i] = kept[i];
            sum += kept[i] * kept[i];
        }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (t % 32 == 0)
        of_warp[t / 32] = sum;
    __syncthreads();
    float scale = rsqrtf((of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3]) / cols + 0.00001f);
#pragma unroll
    for (int i = 0; i < 32; i++)
        if (t + 128 * i < cols)
            out[row + t + 128 * i] = gain[t + 128 * i] * kept[i] * scale;
}
