// Reads the input down its columns for the second result: the store is fine now, and the load is
// the slow one.
__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows, int cols)
{
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    int c = left + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k;
        if (r < rows && c < cols)
            out[r * cols + c] = gain[c] * in[r * cols + c];
        if (left + k < cols && top + threadIdx.x < rows)
            turned[(left + k) * rows + top + threadIdx.x] =
                gain[left + k] * in[(top + threadIdx.x) * cols + left + k];
    }
}
