// Splits the code as E5M2 would.
__global__ void decode_fp8(float *values, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        int code = i % 127, e = code / 4, m = code % 4;
        float value = e == 0 ? m / 512.0f : __int_as_float((e - 7 + 127) << 23 | m << 20);
        values[i] = i < 127 ? value : -value;
    }
}
