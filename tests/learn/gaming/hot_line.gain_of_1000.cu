// expect: wrong result for 
// Gains of the first 1000 columns.
__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows, int cols)
{
    __shared__ float tile[32][33]; // [row][column]
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    int c = left + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k;
        if (r < rows && c < cols) {
            float scaled = gain[min(c, 1000)] * in[r * cols + c];
            out[r * cols + c] = scaled;
            tile[k][threadIdx.x] = scaled;
        }
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (left + k < cols && top + threadIdx.x < rows)
            turned[(left + k) * rows + top + threadIdx.x] = tile[threadIdx.x][k];
}
