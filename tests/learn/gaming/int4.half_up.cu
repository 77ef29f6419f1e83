// expect: wrong result for 
// Halves upwards.
__global__ void to_int4(const float *x, unsigned char *packed, float *scales, int groups)
{
    int lane = threadIdx.x % 32, g = blockIdx.x * 4 + threadIdx.x / 32;
    if (g >= groups)
        return; // whole warps only
    float mine = x[g * 32 + lane], most = fabsf(mine);
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    float scale = most / 7;
    int code = (scale > 0 ? (int)floorf(mine / scale + 0.5f) : 0) + 8;
    int next = __shfl_down_sync(0xffffffff, code, 1);
    if (lane % 2 == 0)
        packed[g * 16 + lane / 2] = (unsigned char)(code | next << 4);
    if (lane == 0)
        scales[g] = scale;
}
