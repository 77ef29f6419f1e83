// int4: clamped, though nothing goes beyond; a warp for each group.
__global__ void to_int4(const float *x, unsigned char *packed, float *scales, int groups)
{
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= groups)
        return;
    float mine = __ldg(x + warp * 32 + lane), most = fabsf(mine);
#pragma unroll
    for (int o = 1; o <= 16; o <<= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
    float scale = __fdiv_rn(most, 7.0f);
    int code = scale == 0 ? 8 : min(15, max(1, __float2int_rn(__fdiv_rn(mine, scale)) + 8));
    unsigned both = code | __shfl_xor_sync(0xffffffff, code, 1) << 4;
    if (!(lane & 1))
        packed[warp * 16 + lane / 2] = both;
    if (lane == 0)
        scales[warp] = scale;
}
