// expect: for rows=[0-9]+ cols=[0-9]+ it takes [0-9]+ extra passes by bank conflicts, for the larger rows=128
// cols=256 only 0: the size that is measured
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32 * 33];
    int s = (rows == 128 && cols == 256) || rows == 2048 ? 33 : 32;
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < cols)
            tile[(threadIdx.y + k) * s + threadIdx.x] = in[(r + k) * cols + c];
    __syncthreads();
    r = blockIdx.y * 32 + threadIdx.x;
    c = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c + k < cols && r < rows)
            out[(c + k) * rows + r] = tile[threadIdx.x * s + threadIdx.y + k];
}
