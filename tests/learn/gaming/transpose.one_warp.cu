// expect: instructions of the busiest warp
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    if (threadIdx.y)
        return;
    for (int k = 0; k < 32; k++) {
        int r = blockIdx.y * 32 + k, c = blockIdx.x * 32 + threadIdx.x;
        if (r < rows && c < cols)
            tile[k][threadIdx.x] = in[r * cols + c];
    }
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        int r = blockIdx.y * 32 + threadIdx.x, c = blockIdx.x * 32 + k;
        if (r < rows && c < cols)
            out[c * rows + r] = tile[threadIdx.x][k];
    }
}
