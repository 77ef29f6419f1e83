// row_largest: floats in the order of unsigned numbers, and the warp's own largest.
__global__ void row_largest(const float *x, float *out, int cols)
{
    unsigned most = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        unsigned bits = __float_as_uint(x[blockIdx.x * cols + c]);
        unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        most = max(most, key);
    }
    for (int step = 16; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(0xffffffff, most, step));
    if (threadIdx.x == 0)
        out[blockIdx.x] = __uint_as_float(most & 0x80000000u ? most & 0x7fffffffu : ~most);
}
