// unpack_fp4 (kata): halves up to 1.5, then 2, 3, 4, and 6.
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
        y[i] = make_float2(value_of(packed[i] & 15), value_of(packed[i] >> 4));
}
