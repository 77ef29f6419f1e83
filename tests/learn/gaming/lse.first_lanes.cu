// expect: wrong result for 
// The largest of the first 16 lanes.
__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float largest = -INFINITY, sum = 0;
    for (int c = lane; r < rows && c < cols; c += 32)
        if (lane < 16)
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
