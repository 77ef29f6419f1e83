// expect: wrong result for rows=[0-9]+ quads=[0-9]+: out
// A sum of 16 bits.
__global__ void dot4(const signed char *a, const signed char *b, int *out, int rows, int quads)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    if (r >= rows)
        return;
    short sum = 0;
    for (int i = lane; i < quads; i += 32)
        sum = (short)__dp4a(((const int *)a)[r * quads + i], ((const int *)b)[i], (int)sum);
    for (int step = 16; step > 0; step /= 2)
        sum = (short)(sum + (short)__shfl_xor_sync(0xffffffff, (int)sum, step));
    if (lane == 0)
        out[r] = sum;
}
