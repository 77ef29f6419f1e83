// expect: wrong result for 
// Halves away from zero.
__global__ void quantise(const float *x, signed char *codes, float *scales, int cols)
{
    int lane = threadIdx.x;
    int row = blockIdx.x * cols;
    float most = 0;
    for (int c = lane; c < cols; c += 32)
        most = fmaxf(most, fabsf(x[row + c]));
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    float scale = most / 127;
    for (int c = lane; c < cols; c += 32)
        codes[row + c] = scale > 0 ? (signed char)roundf(x[row + c] / scale) : 0;
    if (lane == 0)
        scales[blockIdx.x] = scale;
}
