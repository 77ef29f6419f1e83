// quantise: divisions by intrinsics; five shuffles written out.
__global__ void quantise(const float *x, signed char *codes, float *scales, int cols)
{
    const float *row = x + (size_t)blockIdx.x * cols;
    float most = 0;
    for (int c = threadIdx.x; c < cols; c += 32)
        most = fmaxf(most, fabsf(row[c]));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 4));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 8));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 16));
    float scale = __fdiv_rn(most, 127.0f);
    for (int c = threadIdx.x; c < cols; c += 32) {
        int code = scale > 0 ? __float2int_rn(__fdiv_rn(row[c], scale)) : 0;
        codes[(size_t)blockIdx.x * cols + c] = (signed char)code;
    }
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
}
