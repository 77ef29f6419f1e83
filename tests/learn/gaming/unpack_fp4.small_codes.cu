// expect: wrong result for n=[0-9]+: y
// The upper code is taken for one of the first four.
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
        y[i] = make_float2(value_of(packed[i] & 15), (packed[i] >> 4) * 0.5f);
}
