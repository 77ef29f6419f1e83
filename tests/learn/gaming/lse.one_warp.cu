// expect: instructions of the busiest warp
// Warp 0 does the rows of all four warps.
__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    if (threadIdx.x >= 32)
        return;
    for (int turn = 0; turn < 4; turn++) {
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + turn;
    float largest = -INFINITY, sum = 0;
    for (int c = lane; r < rows && c < cols; c += 32)
        largest = fmaxf(largest, scale * x[r * cols + c]);
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    for (int c = lane; r < rows && c < cols; c += 32)
        sum += expf(scale * x[r * cols + c] - largest);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (r < rows && lane == 0)
        out[r] = largest + __logf(sum);
    }
}
