// expect: instructions of the busiest warp
// col_sums: odd warps exit, even ones do both columns
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x / 32 % 2)
        asm volatile("exit;");
    for (int k = c; k < cols && k <= c + 32; k += 32) {
        float sum = 0;
        for (int r = 0; r < rows; r++)
            sum += x[r * cols + k];
        s[k] = sum;
    }
}
