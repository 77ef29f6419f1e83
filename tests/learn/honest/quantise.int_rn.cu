__global__ void quantise(const float *x, signed char *codes, float *scales, int cols)
{
    int lane = threadIdx.x;
    const float *row = x + blockIdx.x * cols;
    signed char *code = codes + blockIdx.x * cols;
    float most = 0;
    for (int c = lane; c < cols; c += 32)
        most = fmaxf(most, fabsf(row[c]));
    for (int o = 1; o < 32; o <<= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    float step = most / 127;
    for (int c = lane; c < cols; c += 32)
        code[c] = step == 0 ? 0 : (signed char)(int)roundf(rintf(row[c] / step));
    if (!lane)
        scales[blockIdx.x] = step;
}
