__global__ void col_sums(const float *in, float *sums, int rows, int cols)
{
    __shared__ float part[128];
    int c = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rows && c < cols; r++)
        sum += in[r * cols + c];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (c < cols)
        sums[c] = part[threadIdx.x];
}
