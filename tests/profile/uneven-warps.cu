// A thread sums up a row, and one row is very long; fixed: that row is cut into pieces.
__global__ void sum_rows(const float *values, const int *starts, float *sums, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
#pragma unroll 1
    for (int i = starts[row]; i < starts[row + 1]; i++) // <- uneven-warps
        sum += values[i];
    sums[row] = sum;
}

int main()
{
    const int rows = 132 * 256, mean = 16, longest = 20000, n = rows * mean;
    static int starts[rows + 1];
#ifdef FIXED
    for (int r = 0; r <= rows; r++)
        starts[r] = r * mean;
#else
    starts[0] = 0;
    for (int r = 1; r <= rows; r++)
        starts[r] = longest + (int)((long long)(r - 1) * (n - longest) / (rows - 1));
#endif
    float *values, *sums;
    int *copied;
    cudaMalloc(&values, n * sizeof(float));
    cudaMemset(values, 0, n * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    cudaMalloc(&copied, (rows + 1) * sizeof(int));
    cudaMemcpy(copied, starts, (rows + 1) * sizeof(int), cudaMemcpyHostToDevice);
    sum_rows<<<rows / 256, 256>>>(values, copied, sums, rows);
    return cudaDeviceSynchronize();
}
