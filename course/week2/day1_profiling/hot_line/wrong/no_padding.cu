// The tile has rows of 32: reading it down a column meets one bank 32 times.
__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows, int cols)
{
    __shared__ float tile[32][32]; // [row][column]
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    int c = left + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k;
        if (r < rows && c < cols) {
            float scaled = gain[c] * in[r * cols + c];
            out[r * cols + c] = scaled;
            tile[k][threadIdx.x] = scaled;
        }
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (left + k < cols && top + threadIdx.x < rows)
            turned[(left + k) * rows + top + threadIdx.x] = tile[threadIdx.x][k];
}
