// quantise: times the inverse of the scale, __float2int_rn.
__global__ void quantise(const float *x, signed char *codes, float *scales, int cols)
{
    const float *row = x + (size_t)blockIdx.x * cols;
    float most = 0;
    for (int c = threadIdx.x; c < cols; c += 32)
        most = fmaxf(most, fabsf(row[c]));
    for (int o = 16; o; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    float scale = most / 127.0f, inverse = most > 0 ? 1 / scale : 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float y = row[c] * inverse, near = rintf(y);
        if (fabsf(fabsf(y - near) - 0.5f) < 1e-4f) // on the border the quotient itself decides
            near = rintf(row[c] / scale);
        codes[(size_t)blockIdx.x * cols + c] = (signed char)near;
    }
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
}
