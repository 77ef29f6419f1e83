// Takes the high bits first.
__device__ float value_of(int code)
{
    int size = code & 7;
    float value = size < 4 ? size * 0.5f : size < 7 ? size - 2 : 6;
    return code & 8 ? -value : value;
}

__global__ void unpack_fp4(const unsigned char *packed, float2 *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        y[i] = make_float2(value_of(packed[i] >> 4), value_of(packed[i] & 15));
}
