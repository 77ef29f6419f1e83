__global__ void unpack_fp4(const unsigned char *packed, float2 *y, int n)
{
    const float value[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    int b = packed[i];
    float lo = value[b & 7], hi = value[b >> 4 & 7];
    y[i] = make_float2(b & 8 ? -lo : lo, b & 128 ? -hi : hi);
}
